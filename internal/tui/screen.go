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
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/story"
)

// Style says how much is shown, and how.
type Style struct {
	Quiet   bool                       // nothing but what others print
	Verbose bool                       // every record as a line
	Colour  bool                       // words in colour
	Live    bool                       // the writer is a terminal: running steps are redrawn in place
	Size    func() (width, height int) // of the terminal, asked at each drawing

	Brief func() bool // steps that were not taken are left out, unless Verbose; nil: never
}

// rowsFree is how many rows of a terminal are not the live view's: that of the cursor below
// it, and one above, for a terminal that is cleared whole may keep what it showed.
const rowsFree = 2

// Screen writes a run to a terminal or a file as it goes. Seen is called by the
// driver, Tick by whoever keeps the time.
type Screen struct {
	style Style
	tail  func(belay.Key) string

	mu     sync.Mutex // owns everything below
	w      io.Writer
	board  *Board
	last   story.Place // what the last line is about
	drawn  []int       // how many places each line of the live view takes
	ticked bool        // the view was drawn since the plan was made
	asked  string      // the question that is what was printed last, by its run and item
	asks   bool        // a question stands in the last line, and somebody may type behind it
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
			if !s.style.Verbose && (l.Detail || l.Start && s.style.Live || news[i].What == story.StepNotTaken && s.brief()) {
				continue
			}
			for _, l := range s.due(l) {
				s.last = l.at
				b.WriteString(s.shown(l) + "\n")
				s.asked = ""
				if n := &news[i]; n.What == story.ItemOpened && l.at == n.Place {
					s.asked = n.Run.Of(n.Decision.Item)
				}
			}
		}
		if what := news[i].What; what == story.RunHeld || what == story.RunEnded && news[i].Run == s.board.story.Root {
			for _, l := range s.board.takeAll() {
				b.WriteString(s.shown(l) + "\n")
				s.asked = ""
			}
		}
	}
	if b.Len() > 0 {
		s.put(s.erase(), b.String())
	}
	return news
}

// due are the lines that are to be printed when there is a new one. On a terminal those
// about what is below a step of the root come behind that of the step: until then they
// are a part of the live view.
func (s *Screen) due(l Line) []Line {
	switch {
	case !s.style.Live || s.style.Verbose || l.at.Run == "":
		return []Line{l}
	case l.at.Run.Depth() > 0:
		s.board.keep(l)
		return nil
	}
	return append([]Line{l}, s.board.takeBelow(l.at)...)
}

// Told tells whether a line said why a step failed, and whether no other came after it.
func (s *Screen) Told(at story.Place) (told, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	told = !s.style.Quiet && s.board.told[at]
	return told, told && s.last == at
}

// shown is a line as the terminal has room for it.
func (s *Screen) shown(l Line) string {
	wide := s.board.column(l)
	if s.style.Live {
		wide = s.board.nameWidth(s.width())
		l.Step = readable.CutMiddle(l.Step, wide)
	}
	text := l.format(s.style.Colour, wide)
	if !s.style.Live || readable.Width(l.format(false, wide)) <= s.width() {
		return text
	}
	head := l
	head.Text = ""
	return strings.Join(hung(head.format(s.style.Colour, wide), head.format(false, wide), readable.Clean(l.Text), textAt(wide), s.width()), "\n")
}

// leastIndent tells the text of a line from the lines before and after it.
const leastIndent = 4

// least is how much room a text has behind the columns; with less it stands below them.
const least = 32

// hung is a line whose text takes several. bare is the head without its colour.
func hung(head, bare, text string, under, width int) []string {
	if width-under < max(least, min(widestWord(text), width)) { // no word is broken that a line can hold
		indent := min(TextAt-stepWidth-tookWidth, width/2, max(width-widestWord(text), leastIndent))
		return append([]string{head}, readable.Hang(strings.Repeat(" ", indent)+text, width, indent)...)
	}
	lines := readable.Wrap(text, width-under)
	for i, l := range lines {
		if i > 0 {
			lines[i] = strings.Repeat(" ", under) + l
			continue
		}
		between := strings.Repeat(" ", under-readable.Width(bare))
		if under-readable.Width(bare) == 3 { // it ends with how long it took
			between = " · "
		}
		lines[i] = head + between + l
	}
	return lines
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
	width, height := s.style.Size()
	var lines []string
	if height > 1 { // in one row, each drawing would push the one before over the edge
		lines = s.board.Live(now, width-1, height-rowsFree, s.tail)
	}
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
	s.asked = ""
	text := ""
	for _, l := range lines {
		if !s.style.Live {
			text += l + "\n"
			continue
		}
		for _, part := range readable.Fold(l, s.width()) {
			text += part + "\n"
		}
	}
	s.put(s.erase(), text)
}

// Ask prints a question, if it is not what was printed last, and what stands before the
// answer that is typed.
func (s *Screen) Ask(q *flow.Asking, prompt string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := ""
	name := q.Run.Of(q.ID)
	if s.asked != name {
		at := story.Place{Run: q.Run, Path: q.Path}
		l := line(story.HeldWord(q.About), at, "", q.Ask)
		l.Step = s.board.names.Of(at)
		text = s.shown(l) + "\n"
	}
	s.put(s.erase(), text+prompt)
	s.asks, s.asked = true, name
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
	text := ""
	for _, l := range s.board.takeAll() {
		text += s.shown(l) + "\n"
	}
	s.put(s.erase(), text)
}

// width is how wide the terminal is now.
func (s *Screen) width() int {
	width, _ := s.style.Size()
	return width
}

// erase moves back over what was drawn and clears it. A terminal that became
// narrower has broken long lines into several. In one that became lower the view may
// begin in the first row, whatever rowsFree says.
func (s *Screen) erase() string {
	if len(s.drawn) == 0 {
		return ""
	}
	rows, width := 0, max(s.width(), 1)
	for _, w := range s.drawn {
		rows += max(1, (w+width-1)/width)
	}
	s.drawn = nil
	// The first row is cleared by itself: where all of a terminal is cleared from its first
	// place on, as tmux counts it, what it showed goes into the lines that can be scrolled back.
	return fmt.Sprintf("\r\x1b[%dA\x1b[K\x1b[B\x1b[J\x1b[A", rows)
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
