package tui

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Style says how much is shown, and how.
type Style struct {
	Quiet   bool       // nothing but what others print
	Verbose bool       // every record as a line
	Colour  bool       // words in colour
	Live    bool       // the writer is a terminal: running steps are redrawn in place
	Width   func() int // of the terminal, asked at each drawing

	Brief func() bool // steps that were not taken are left out, unless Verbose; nil: never
}

// Screen writes a run to a terminal or a file as it goes. Seen is called by the
// driver, Tick by whoever keeps the time.
type Screen struct {
	style Style
	tail  func(belay.Key) string

	mu     sync.Mutex // owns everything below
	w      io.Writer
	board  *Board
	drawn  []int // how many places each line of the live view takes
	ticked bool  // the view was drawn since the plan was made
	asks   bool  // a question stands in the last line, and somebody may type behind it
}

// NewScreen shows what the board makes of the records on w.
func NewScreen(w io.Writer, board *Board, style Style, tail func(belay.Key) string) *Screen {
	return &Screen{style: style, tail: tail, w: w, board: board}
}

// Seen tells and shows records that are on disk.
func (s *Screen) Seen(recs []event.Record) []story.News {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.board.story.Add(recs...)
	if s.style.Quiet {
		return news
	}
	if p := s.board.plan; s.style.Live && (p == nil || p.total <= mostPlanned || s.ticked) {
		s.board.look()
		s.ticked = false
	}
	var b strings.Builder
	for i, r := range recs {
		if s.style.Verbose {
			b.WriteString(recordLine(r) + "\n")
		}
		for _, l := range s.board.Lines(&news[i]) {
			if !s.style.Verbose && (l.Detail || news[i].What == story.StepNotTaken && s.brief()) {
				continue
			}
			b.WriteString(s.shown(l) + "\n")
		}
	}
	if b.Len() > 0 {
		s.put(s.erase(), b.String())
	}
	return news
}

// shown is a line as the terminal has room for it.
func (s *Screen) shown(l Line) string {
	text := l.Format(s.style.Colour)
	if !s.style.Live || readable.Width(l.Format(false)) <= s.style.Width() {
		return text
	}
	lines := readable.Hang(l.Format(false), s.style.Width(), TextAt)
	if s.style.Colour {
		lines[0] = strings.Replace(lines[0], l.Word, paint(l.Word, l.Word), 1)
	}
	return strings.Join(lines, "\n")
}

func (s *Screen) brief() bool { return s.style.Brief != nil && s.style.Brief() }

// Look makes ready to draw a run of which records were told before.
func (s *Screen) Look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board.look()
}

// Tick draws what runs now.
func (s *Screen) Tick(now time.Time) {
	if !s.style.Live || s.style.Quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asks {
		return // nobody writes over what is typed
	}
	lines := s.board.Live(now, s.style.Width()-1, s.tail)
	back, out := s.erase(), ""
	for _, l := range lines {
		s.drawn = append(s.drawn, readable.Width(l))
		if s.style.Colour && strings.HasPrefix(l, "  "+pendingWord+" ") {
			l = paint(pendingWord, l)
		}
		out += l + "\n"
	}
	s.ticked = true
	s.put(back, out)
}

// Say prints lines of others above the live view.
func (s *Screen) Say(lines ...string) {
	if len(lines) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(s.erase(), strings.Join(lines, "\n")+"\n")
}

// Ask prints a question, behind which an answer is typed.
func (s *Screen) Ask(lines []string, prompt string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	for _, l := range lines {
		text += l + "\n"
	}
	s.put(s.erase(), text+prompt)
	s.asks = true
}

// Asked says that nobody is to type any more; the cursor stands behind the question
// when nothing was typed.
func (s *Screen) Asked(typed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asks && !typed {
		s.put("", "\n")
	}
	s.asks = false
}

// Close takes the live view away.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(s.erase(), "")
}

// erase moves back over what was drawn and clears it. A terminal that became
// narrower has broken long lines into several.
func (s *Screen) erase() string {
	if len(s.drawn) == 0 {
		return ""
	}
	rows, width := 0, max(s.style.Width(), 1)
	for _, w := range s.drawn {
		rows += max(1, (w+width-1)/width)
	}
	s.drawn = nil
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", rows)
}

// put writes text after the moves that take the last drawing away. It is talk:
// the run does not depend on who listens.
func (s *Screen) put(back, text string) {
	if s.asks && text != "" && !strings.HasPrefix(text, "\n") {
		text = "\n" + text // not behind the question
	}
	if d, ok := s.w.(*readable.Door); ok {
		_, _ = d.Redraw(back, []byte(text)) // see above
	} else if back+text != "" {
		_, _ = io.WriteString(s.w, back+text) // see above
	}
}

// recordLine is a record as one line for people who want everything.
func recordLine(r event.Record) string {
	body, err := json.Marshal(r.Event)
	if err != nil {
		body = []byte("{}") // the record on disk is whole; this is only talk
	}
	return fmt.Sprintf("%5d %s %-16s %s %s", r.Seq, r.At.Format("15:04:05.000"), r.Event.Kind(), r.Run, readable.Clean(string(body)))
}
