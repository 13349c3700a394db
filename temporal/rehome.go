package temporal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// rehome makes one path of another: what records have as a path of the machine that
// started the run is a path of a host's own there.
type rehome struct{ from, to string }

// homes are those of one run on one host.
type homes []rehome

// back are the same the other way round.
func (hs homes) back() homes {
	out := make(homes, len(hs))
	for i, h := range hs {
		out[i] = rehome{h.to, h.from}
	}
	return out
}

// rehomed is a value with every path in it that begins with one of those put in its new
// place. It goes by the form in which the value travels, so that no field can be forgotten.
func rehomed[T any](hs homes, v T) (T, error) {
	if len(hs) == 0 {
		return v, nil
	}
	b, err := json.Marshal(v)
	var out T
	if err == nil {
		err = json.Unmarshal(hs.text(b), &out)
	}
	if err != nil {
		return out, fmt.Errorf("put paths in their place: %w", err)
	}
	return out, nil
}

// text puts the paths of a JSON text in their place, the longest first, each once.
func (hs homes) text(b []byte) []byte {
	pairs := slices.Clone(hs)
	for i, h := range pairs {
		pairs[i] = rehome{quoted(h.from), quoted(h.to)}
	}
	slices.SortStableFunc(pairs, func(a, b rehome) int { return len(b.from) - len(a.from) })
	var out bytes.Buffer
	out.Grow(len(b))
next:
	for i := 0; i < len(b); {
		if b[i] == '/' && begins(b, i) {
			for _, h := range pairs {
				if bytes.HasPrefix(b[i:], []byte(h.from)) && ends(b, i+len(h.from)) {
					out.WriteString(h.to)
					i += len(h.from)
					continue next
				}
			}
		}
		out.WriteByte(b[i])
		i++
	}
	return out.Bytes()
}

// quoted is a path as it stands in a JSON text.
func quoted(path string) string {
	b, err := json.Marshal(path)
	if err != nil {
		return path // a text is always one
	}
	return strings.Trim(string(b), `"`)
}

// begins tells whether a path can begin here: what stands before is no part of it.
func begins(b []byte, i int) bool {
	if i == 0 || !inPath(b[i-1]) && b[i-1] != '/' {
		return true
	}
	escaped := i > 1 && b[i-2] == '\\' && (i < 3 || b[i-3] != '\\')
	return escaped && strings.ContainsRune("nrtbf", rune(b[i-1]))
}

// ends tells whether the name of a folder ends here.
func ends(b []byte, i int) bool { return i >= len(b) || !inPath(b[i]) }

func inPath(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c >= 0x80
}
