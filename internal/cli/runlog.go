package cli

import (
	"strings"

	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// talk writes the log of a run as its records come: into the file in the run's
// folder, and on stderr as far as that was asked for. It is talk: what cannot
// be written is said once and stops nothing.
type talk struct {
	app    *app
	lines  logLines
	log    *engine.RunLog
	say    func(lines ...string)
	broken bool
}

// talk is the log of a run that is driven.
func (a *app) talk(o *engine.Open, live *story.Story) *talk {
	return &talk{app: a, lines: logLines{live}, log: o.Log(), say: func(lines ...string) {
		a.talkLines(strings.Join(lines, "\n"))
	}}
}

// catchUp writes what the driver before could not say any more.
func (t *talk) catchUp(news []story.News) {
	for i := range news {
		for _, e := range t.lines.of(&news[i]) {
			word := strings.ToUpper(string(e.level))
			if e.level == logDebug || !t.log.Missed(e.at, word, e.text) {
				continue
			}
			if err := t.log.Add(e.at, word, e.text); err != nil {
				t.fail(err)
			}
		}
	}
}

// fail says once that the log cannot be written.
func (t *talk) fail(err error) {
	if !t.broken {
		t.broken = true
		t.app.complain(err)
	}
}

// seen takes in what became known.
func (t *talk) seen(news []story.News) {
	for i := range news {
		for _, e := range t.lines.of(&news[i]) {
			t.tell(e)
		}
	}
}

// tell writes one entry. The file has everything but what is for debugging; on
// stderr are decisions only when a level was asked for: the story tells them.
func (t *talk) tell(e entry) {
	word := strings.ToUpper(string(e.level))
	level := t.app.logLevel
	if e.level.rank() >= min(level.rank(), logInfo.rank()) {
		if err := t.log.Add(e.at, word, e.text); err != nil {
			t.fail(err)
		}
	}
	asked := t.app.talks || !e.decision && !t.app.quiet
	if asked && e.level.rank() >= level.rank() {
		text := strings.ReplaceAll(readable.Harmless(t.log.Hide(e.text)), "\n", "\n    ")
		t.say(word + " " + strings.TrimRight(text, " \n"))
	}
}

func (t *talk) close() {
	if err := t.log.Close(); err != nil {
		t.fail(err)
	}
}
