package hand

import (
	"github.com/belay-run/belay"
)

// maxSeen bounds what is kept decoded, counted as it lies on disk.
const maxSeen = maxAskValue

// seen are the last values from outside the records that were looked at. Many
// steps ask about the same one, and to decode it is what costs.
type seen struct {
	values map[string]any // by digest; nobody changes them
	bytes  int64
}

// decoded is a value as conditions and texts see it.
func (h *Hand) decoded(v belay.Value) (any, error) {
	if x, ok := h.seen.values[v.Sha]; ok && !v.Inline() {
		return x, nil
	}
	raw, err := h.jsonOf(v)
	if err != nil {
		return nil, err
	}
	var x any
	if err := exact(raw, &x); err != nil {
		return nil, err
	}
	if !v.Inline() {
		h.seen.keep(v, x)
	}
	return x, nil
}

// keep remembers a value; when there are too many, all others are forgotten.
func (s *seen) keep(v belay.Value, x any) {
	if s.values == nil || s.bytes+v.Size > maxSeen {
		s.values, s.bytes = map[string]any{}, 0
	}
	s.values[v.Sha] = x
	s.bytes += v.Size
}
