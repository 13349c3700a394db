package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/internal/readable"
	"github.com/belay-run/belay/internal/step"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/story"
)

const (
	maxRecord  = 4 << 20  // a line of a CLI's output that is longer is left out
	maxSaid    = 64 << 10 // how much of what was said is remembered
	maxCommand = 300      // places on a screen for the command of a tool
)

// transcript makes the records of an agent's CLI readable: what the model says
// as it is, tools with how they ended, retries. What it does not know is passed
// on. Its memory is bounded, whatever is written to it.
type transcript struct {
	to     io.Writer
	reader agent.Reader // nil: there are no records, every line is text
	pieces bool         // the model's text comes in pieces
	buf    []byte       // the beginning of a line
	long   int64        // bytes of the line that is too long

	mid     bool   // what was printed last has no line end yet
	tool    string // the tool call that it is, "" = none
	said    string // the end of what the model said since the last tool
	again   string // lines that may be what was said, printed once more as the answer
	session string // that was told last
	final   bool   // the record that ends a run was there
	err     error  // of the writer, the first
}

// newTranscript reads a CLI of the given kind; nil when there is no reader for
// it and its output stays as it is.
func newTranscript(to io.Writer, kind agent.Kind) *transcript {
	ad, ok := agent.New(kind)
	if !ok {
		return nil
	}
	t := &transcript{to: to, pieces: ad.Traits().Pieces}
	if ad.Traits().Final {
		t.reader = ad.Reader()
	}
	return t
}

// kindOf is the kind of the agent of an attempt, "" when it cannot be told: the
// order that its attendant got says it, else its name may.
func kindOf(files interface{ LogPath(belay.Key) string }, k belay.Key, name string) agent.Kind {
	order, err := supervise.ReadOrder(orderPath(files, k))
	if err != nil {
		return agent.Kind(story.AgentName(name)) // an own name is no kind, and has no reader
	}
	return order.Kind
}

// orderPath is the order that the attendant of an attempt got.
func orderPath(files interface{ LogPath(belay.Key) string }, k belay.Key) string {
	return filepath.Join(filepath.Dir(step.NotesPath(files, k)), "order.json")
}

func (t *transcript) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.hold(p)
			break
		}
		t.hold(p[:i])
		t.ended()
		p = p[i+1:]
	}
	return size, t.err
}

// hold keeps the beginning of a line, as far as there is room for it.
func (t *transcript) hold(p []byte) {
	if t.long == 0 && len(t.buf)+len(p) <= maxRecord {
		t.buf = append(t.buf, p...)
		return
	}
	t.long += int64(len(t.buf) + len(p))
	t.buf = nil
}

// ended takes the line that has come to its end.
func (t *transcript) ended() {
	if t.long > 0 {
		t.settle()
		t.line(fmt.Sprintf("… a line of %s is left out; --raw has it …", readable.Size(t.long)))
		t.long = 0
		return
	}
	t.take(bytes.TrimSuffix(t.buf, []byte{'\r'}))
	t.buf = t.buf[:0]
}

// close takes what came after the last line end and ends the text.
func (t *transcript) close() error {
	if len(t.buf) > 0 || t.long > 0 {
		t.ended()
	}
	if t.again != "" && !strings.HasSuffix(strings.TrimSpace(t.said), strings.TrimSpace(t.again)) {
		t.settle()
	}
	t.again = ""
	t.fresh()
	if t.reader != nil {
		if text := badEnd(t.reader.End(agent.Exit{})); text != "" {
			t.line(text)
		}
	}
	return t.err
}

// badEnd is what an agent's records say of an end that was not a good one.
func badEnd(r belay.AgentResult) string {
	switch {
	case r.Cause != "":
		return "error: " + readable.Clean(errorWords(r))
	case r.Error:
		return "error: the agent does not say which"
	}
	switch r.Stop {
	case belay.StopRefused:
		return "the model refused"
	case belay.StopTruncated:
		return "the answer was cut off at the model's output limit"
	case belay.StopLimit:
		return "a limit of the agent's own was reached"
	case belay.StopUnknown, belay.StopDone, belay.StopError:
	}
	return ""
}

// take shows one line of the CLI.
func (t *transcript) take(line []byte) {
	if t.reader == nil {
		t.plain(string(line))
		return
	}
	news := false
	for _, s := range t.reader.Line(line) {
		news = t.sign(s) || news
	}
	switch {
	case news || len(line) == 0 && t.again == "":
	case t.final || !isRecord(line):
		t.plain(string(line))
	}
}

// isRecord tells whether a line is a record of which there is nothing to say.
func isRecord(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) > 0 && (line[0] == '{' || line[0] == '[') && json.Valid(line)
}

// sign shows what a record tells, and says whether it was worth showing.
func (t *transcript) sign(s agent.Sign) bool {
	switch s.Kind {
	case agent.SignText:
		t.settle()
		t.speak(s.Text)
	case agent.SignTool:
		t.settle()
		t.began(s)
	case agent.SignDone:
		t.settle()
		t.done(s)
	case agent.SignRetry:
		t.settle()
		t.line(retryText(s))
	case agent.SignStart:
		t.settle()
		if s.Session != "" && s.Session != t.session {
			t.session = s.Session
			t.line("session " + readable.Clean(s.Session))
		}
	case agent.SignFinal:
		t.fresh()
		t.final = true
		return true
	case agent.SignLife, agent.SignModel:
		return false
	}
	t.final = false
	return true
}

func retryText(s agent.Sign) string {
	text := "retry: " + readable.Clean(s.Text)
	if s.Wait > 0 {
		text += " (in " + readable.Took(s.Wait) + ")"
	}
	return text
}

// speak prints what the model says: pieces go on where the last one ended.
func (t *transcript) speak(text string) {
	text = readable.Harmless(text)
	if text == "" {
		return
	}
	if t.tool != "" {
		t.fresh()
	}
	t.remember(text)
	t.print(text)
	t.mid = !strings.HasSuffix(text, "\n")
	if !t.pieces {
		t.fresh()
	}
}

// remember keeps the end of what was said: an attendant prints the answer once
// more when its agent has ended.
func (t *transcript) remember(text string) {
	if !t.pieces && t.said != "" {
		t.said += "\n"
	}
	t.said += text
	if len(t.said) > maxSaid {
		t.said = t.said[len(t.said)-maxSaid:]
	}
}

// began prints a tool call and leaves the line open for its end.
func (t *transcript) began(s agent.Sign) {
	t.fresh()
	t.said = ""
	t.print(callText(s.Tool))
	t.mid, t.tool = true, "call "+s.ID
}

// done prints how a tool ended: behind its beginning, when nothing came between.
func (t *transcript) done(s agent.Sign) {
	how := endText(s.Tool)
	switch {
	case t.tool == "call "+s.ID:
		t.print(how)
		t.fresh()
	case how != "":
		t.line(callText(s.Tool) + how)
	}
}

// callText is a tool call in one line.
func callText(c *belay.ToolCall) string {
	switch {
	case c == nil:
		return "· tool"
	case c.Command != "":
		return "$ " + readable.Cut(readable.Clean(c.Command), maxCommand)
	case c.Path != "":
		return "· " + readable.Clean(c.Name) + " " + readable.Clean(c.Path)
	}
	return "· " + readable.Clean(c.Name)
}

// endText is how a tool call ended, "" when there is nothing to say about it.
func endText(c *belay.ToolCall) string {
	switch {
	case c == nil:
		return ""
	case c.Denied:
		return " → denied"
	case c.Exit != nil:
		return fmt.Sprintf(" → exit %d", *c.Exit)
	case c.Failed:
		return " → failed"
	}
	return ""
}

// plain passes on a line that is no record. One that the model said already is
// held back: it is the answer once more, unless what follows shows otherwise.
func (t *transcript) plain(line string) {
	line = readable.Harmless(line)
	longer := line
	if t.again != "" {
		longer = t.again + "\n" + line
	}
	if strings.TrimSpace(longer) != "" && strings.Contains(t.said, longer) {
		t.again = longer
		return
	}
	if t.again != "" {
		t.settle()
		t.plain(line)
		return
	}
	t.line(line)
	if t.reader == nil {
		t.remember(line)
	}
}

// settle prints what was held back.
func (t *transcript) settle() {
	if t.again == "" {
		return
	}
	text := t.again
	t.again = ""
	t.line(text)
	if t.reader == nil {
		t.remember(text)
	}
}

// line prints a whole line.
func (t *transcript) line(text string) {
	t.fresh()
	t.print(text + "\n")
}

// fresh ends the line that is open.
func (t *transcript) fresh() {
	if t.mid {
		t.print("\n")
	}
	t.mid, t.tool = false, ""
}

func (t *transcript) print(text string) {
	if t.err == nil && text != "" {
		_, t.err = io.WriteString(t.to, text)
	}
}
