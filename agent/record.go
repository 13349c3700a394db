package agent

import (
	"encoding/json"
	"math"

	"github.com/belay-run/belay"
)

// record is one JSON object of a CLI's output. It is read field by field and
// not into a struct, because a field that changed its form in a new version
// must not cost the rest of the record.
type record map[string]any

// records parses a line: one object, or a list of them. A line that is neither
// gives none.
func records(line []byte) []record {
	var v any
	if json.Unmarshal(line, &v) != nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		return []record{v}
	case []any:
		return objects(v)
	}
	return nil
}

// inner parses text that holds one JSON object, as errors of providers do.
func inner(s string) record {
	var v map[string]any
	if json.Unmarshal([]byte(s), &v) != nil {
		return nil
	}
	return v
}

func objects(list []any) []record {
	var out []record
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// at walks down named objects; nothing on the way gives an empty record.
func (r record) at(names ...string) record {
	for _, n := range names {
		m, _ := r[n].(map[string]any) // nil: an empty record
		r = m
	}
	return r
}

func (r record) str(name string) string {
	s, _ := r[name].(string) // "" when it is something else
	return s
}

func (r record) list(name string) []record {
	l, _ := r[name].([]any) // nil: no records
	return objects(l)
}

func (r record) has(name string) bool {
	v, ok := r[name]
	return ok && v != nil
}

func (r record) yes(name string) bool {
	b, _ := r[name].(bool) // false when it is something else
	return b
}

// num is a whole number, 0 when it is absent, not finite or out of reach.
func (r record) num(name string) int64 {
	f, _ := r[name].(float64) // 0 when it is something else
	if math.IsNaN(f) || f > 1e15 || f < -1e15 {
		return 0
	}
	return int64(f)
}

// status is an HTTP status, 0 when it cannot be one.
func (r record) status(name string) int {
	if n := r.num(name); n >= 100 && n <= 599 {
		return int(n)
	}
	return 0
}

// micro is an amount of dollars in millionths.
func (r record) micro(name string) int64 {
	f, _ := r[name].(float64) // 0 when it is something else
	if math.IsNaN(f) || f < 0 || f > 1e9 {
		return 0
	}
	return int64(math.Round(f * 1e6))
}

// exit is an exit code where one is told.
func (r record) exit(name string) *int {
	if _, ok := r[name].(float64); !ok {
		return nil
	}
	n := int(r.num(name))
	return &n
}

// claudeUsage reads token counts in the form of Anthropic's API.
func (r record) claudeUsage() belay.Usage {
	return belay.Usage{
		Input:      r.num("input_tokens"),
		Output:     r.num("output_tokens"),
		CacheRead:  r.num("cache_read_input_tokens"),
		CacheWrite: r.num("cache_creation_input_tokens"),
	}
}
