package supervise

import (
	"io"
	"sync"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

// voice is how one process of a CLI is spoken to and understood. All of it may
// be called at once from several goroutines.
type voice interface {
	// speak says what there is to say and closes stdin; an agent that does not
	// listen is no error, its exit tells.
	speak(stdin io.WriteCloser)
	line(line []byte, stderr bool) []agent.Sign
	missed(head []byte) // a line of stdout was too long to be read, and began so
	// finished is closed when nothing more is to come although the process
	// lives: a server that was asked. Nil where the exit is the end.
	finished() <-chan struct{}
	// hush says that no further line will come: speak must return.
	hush()
	end(agent.Exit) belay.AgentResult
}

// reading is the voice of a CLI that takes a prompt and prints records.
type reading struct {
	mu     sync.Mutex
	reader agent.Reader
	prompt string // "" = it has it as an argument
}

func (r *reading) speak(stdin io.WriteCloser) {
	defer stdin.Close()
	_, _ = io.WriteString(stdin, r.prompt) // one that ends before it has read all is seen by its exit
}

func (r *reading) line(line []byte, stderr bool) []agent.Sign {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stderr {
		return r.reader.Stderr(line)
	}
	return r.reader.Line(line)
}

func (r *reading) missed(head []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	agent.Missed(r.reader, head, maxLine)
}

func (r *reading) finished() <-chan struct{} { return nil }

func (r *reading) hush() {} // closing stdin is enough

func (r *reading) end(e agent.Exit) belay.AgentResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reader.End(e)
}
