package expr

import (
	"maps"
	"slices"
)

// Fill is a decoded value with the texts in it filled in, in lists and objects,
// too. A text that is one placeholder and nothing else becomes the value that this
// stands for.
func Fill(v any, l Lookup, lenient bool) (any, error) {
	switch v := v.(type) {
	case string:
		t, err := ParseText(v)
		if err != nil {
			return nil, err
		}
		t.lenient = lenient
		return t.Value(l)
	case []any:
		list := make([]any, len(v))
		for i, x := range v {
			in, err := Fill(x, l, lenient)
			if err != nil {
				return nil, err
			}
			list[i] = in
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			in, err := Fill(v[name], l, lenient)
			if err != nil {
				return nil, err
			}
			object[name] = in
		}
		return object, nil
	}
	return v, nil
}
