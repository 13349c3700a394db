package cli

import "fmt"

// blockedPart says what a step waits for that is nobody's question.
func (w *whyFacts) blockedPart(p *page) {
	if len(w.Blocked) == 0 {
		return
	}
	const shown = 3
	p.head("WAITS FOR A SERVICE")
	for i, b := range w.Blocked {
		if i == shown {
			p.whole(fmt.Sprintf("  … %d more steps", len(w.Blocked)-shown))
			break
		}
		p.text("  "+w.clock(b.Since)+"  ", fmt.Sprintf("%s: %s; it is asked again at %s", b.Step, b.Why, w.clock(b.Until)))
	}
}

// breakers is the command that takes back what is counted of the services.
func (w *whyFacts) breakers() string {
	return fmt.Sprintf("%s clear %s breakers --why TEXT", w.belay, w.Run.Root())
}
