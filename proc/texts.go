package proc

import (
	"encoding/json"
	"unicode/utf8"
)

// Texts are strings of any bytes on the wire. JSON knows only Unicode and would
// replace the rest in silence, but arguments and variables may hold anything.
type Texts []string

// odd is a string that is no valid UTF-8.
type odd struct {
	Bytes []byte `json:"bytes"`
}

// MarshalJSON writes a plain list where it can.
func (t Texts) MarshalJSON() ([]byte, error) {
	plain := true
	for _, s := range t {
		plain = plain && utf8.ValidString(s)
	}
	if plain {
		return json.Marshal([]string(t))
	}
	list := make([]any, len(t))
	for i, s := range t {
		if list[i] = s; !utf8.ValidString(s) {
			list[i] = odd{[]byte(s)}
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Texts) UnmarshalJSON(b []byte) error {
	var plain []string
	if json.Unmarshal(b, &plain) == nil {
		*t = plain
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*t = make(Texts, len(list))
	for i, raw := range list {
		if json.Unmarshal(raw, &(*t)[i]) == nil {
			continue
		}
		var o odd
		if err := json.Unmarshal(raw, &o); err != nil {
			return err
		}
		(*t)[i] = string(o.Bytes)
	}
	return nil
}
