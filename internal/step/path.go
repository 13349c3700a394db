package step

import (
	"encoding/json"
	"strconv"
	"strings"
)

// walk finds a place in JSON: fields after dots, items and fields in brackets
// ("items[0].id", "['a key'].x"). Numbers keep every digit.
func walk(raw json.RawMessage, path string) (json.RawMessage, bool) {
	for path = strings.TrimPrefix(path, "."); path != ""; path = strings.TrimPrefix(path, ".") {
		key, rest, index := head(path)
		var ok bool
		if raw, ok = child(raw, key, index); !ok {
			return nil, false
		}
		path = rest
	}
	return raw, len(raw) > 0
}

// head cuts the first part off a path; index tells that it stood in brackets
// without quotes.
func head(path string) (key, rest string, index bool) {
	if path[0] != '[' {
		if end := strings.IndexAny(path, ".["); end >= 0 {
			return path[:end], path[end:], false
		}
		return path, "", false
	}
	inner, rest, _ := strings.Cut(path[1:], "]")
	if n := len(inner); n >= 2 && (inner[0] == '\'' || inner[0] == '"') && inner[n-1] == inner[0] {
		return inner[1 : n-1], rest, false
	}
	return inner, rest, true
}

func child(raw json.RawMessage, key string, index bool) (json.RawMessage, bool) {
	if !index {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil, false
		}
		v, ok := object[key]
		return v, ok
	}
	var list []json.RawMessage
	n, err := strconv.Atoi(key)
	if err != nil || json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	if n < 0 {
		n += len(list)
	}
	if n < 0 || n >= len(list) {
		return nil, false
	}
	return list[n], true
}
