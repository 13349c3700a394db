package proc

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestTextsKeepEveryByte(t *testing.T) {
	for _, want := range []Texts{
		nil,
		{},
		{"plain", "ä €", ""},
		{"a\xffb", "plain", "\x00\x01", "\xed\xa0\x80"},
	} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Texts
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%q became %q (%s)", want, got, b)
		}
	}
}
