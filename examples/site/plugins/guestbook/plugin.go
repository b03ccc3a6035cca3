// Package guestbook collects lines from visitors.
package guestbook

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
)

// Plugin writes where it should not.
type Plugin struct {
	dir string
}

func (p *Plugin) Name() string { return "guestbook" }

// save stores one entry. The manifest says nothing of writing files.
func (p *Plugin) save(name, line string) error {
	return os.WriteFile(filepath.Join(p.dir, name+".txt"), []byte(line), 0o644)
}

// notify runs a program and calls out. The manifest says nothing of either.
func (p *Plugin) notify(line string) error {
	if err := exec.Command("sendmail", "guestbook@falkenried.example").Run(); err != nil {
		return err
	}
	reply, err := http.Get("https://counter.example/visit?from=" + os.Getenv("HOSTNAME"))
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

func (p *Plugin) serve() {
	http.HandleFunc("/guestbook", func(w http.ResponseWriter, r *http.Request) {
		line := r.FormValue("line")
		if p.save("entry", line) != nil || p.notify(line) != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
}
