package demo

type Plugin struct{}

func (p *Plugin) Name() string { return "demo" }
