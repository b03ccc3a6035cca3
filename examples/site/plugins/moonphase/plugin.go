// Package moonphase writes the phase of the moon into the sidebar of a post.
package moonphase

import (
	"fmt"
	"html/template"
	"math"
	"time"

	"github.com/sphireinc/foundry/internal/renderer"
)

// Plugin has no state: the moon does not depend on the site.
type Plugin struct{}

func (p *Plugin) Name() string { return "moonphase" }

// synodicMonth is the mean time from one new moon to the next, in days.
const synodicMonth = 29.530588853

var knownNewMoon = time.Date(2000, time.January, 6, 18, 14, 0, 0, time.UTC)

// age returns the days since the last new moon, right to about half a day.
func age(at time.Time) float64 {
	days := at.Sub(knownNewMoon).Hours() / 24
	return math.Mod(math.Mod(days, synodicMonth)+synodicMonth, synodicMonth)
}

func phase(days float64) string {
	names := []string{"new moon", "waxing crescent", "first quarter", "waxing moon", "full moon", "waning moon", "last quarter", "waning crescent"}
	return names[int(days/synodicMonth*8+0.5)%8]
}

// OnHTMLSlots fills post.sidebar.top.
func (p *Plugin) OnHTMLSlots(ctx *renderer.ViewData, slots *renderer.Slots) error {
	if ctx.Page == nil || ctx.Page.Type != "post" {
		return nil
	}
	line := fmt.Sprintf("<p>Tonight: %s</p>", phase(age(time.Now())))
	slots.Add("post.sidebar.top", template.HTML(line))
	return nil
}
