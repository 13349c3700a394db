package supervise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/redact"
)

const (
	maxReport = 64 << 20
	maxTools  = 100
	maxCause  = 4 << 10
	keptBack  = 8 << 10 // of the end of a text that was cut
)

// ReadReport is the report that an attendant wrote.
func ReadReport(path string) (effect.AgentReport, error) {
	var r effect.AgentReport
	b, err := readBounded(path, maxReport)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

func writeReport(path string, r effect.AgentReport, hide *redact.Redactor) error {
	b, err := json.Marshal(r)
	if err == nil {
		b, err = hidden(b, hide)
	}
	if err == nil {
		err = replace(path, b)
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// hidden hides secrets in every text of a JSON value. It works on the texts and
// not on the bytes, because an escaped secret does not look like itself.
func hidden(b []byte, hide *redact.Redactor) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(hideIn(v, hide))
}

func hideIn(v any, hide *redact.Redactor) any {
	switch v := v.(type) {
	case string:
		return hide.String(v)
	case []any:
		for i := range v {
			v[i] = hideIn(v[i], hide)
		}
	case map[string]any:
		for k := range v {
			v[k] = hideIn(v[k], hide)
		}
	}
	return v
}

// follow is two results of one attempt as one: the later one says how it ended.
func follow(first, then belay.AgentResult) belay.AgentResult {
	r := then
	if r.Session == "" {
		r.Session = first.Session
	}
	if r.Model == "" {
		r.Model = first.Model
	}
	r.Usage = first.Usage.Add(then.Usage)
	r.Tools = ends(slices.Concat(first.Tools, then.Tools), maxTools)
	r.ToolCount = first.ToolCount + then.ToolCount
	r.Retries = first.Retries + then.Retries
	r.Bad = first.Bad + then.Bad
	r.Denied = nil
	for _, name := range slices.Concat(first.Denied, then.Denied) {
		if !slices.Contains(r.Denied, name) {
			r.Denied = append(r.Denied, name)
		}
	}
	return r
}

// ends is the first and the last of a list, at most n together.
func ends[T any](list []T, n int) []T {
	if len(list) <= n {
		return list
	}
	return slices.Concat(list[:n/2], list[len(list)-n/2:])
}

// excerpt is the beginning and the end of a text, without secrets: they are
// hidden before it is cut.
func excerpt(text string, hide func(string) string) string {
	const part = 16 << 10 // more than an excerpt has of each
	if len(text) <= agent.MaxLook {
		return agent.Excerpt(hide(text))
	}
	return agent.Excerpt(agent.Short(text, part, hide) + "\n…\n" + agent.ShortEnd(text, part, hide))
}

// cutOf says why the text of a result is not the whole answer, "" when it is.
func (a *attendant) cutOf(e ending) string {
	r, most := e.result, a.order.most()
	switch {
	case e.ended == effect.EndedOutput, a.traits.Untold && r.Cut != "":
		return fmt.Sprintf("the answer has more than %d bytes", most)
	case r.Cut == "" && r.TextSize > most:
		return fmt.Sprintf("the answer has %d bytes, over %d", r.TextSize, most)
	}
	return r.Cut
}

// readBounded is a file of at most so many bytes.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return b, nil
}

func cut(text string, n int) string {
	if len(text) > n {
		return text[:n]
	}
	return text
}
