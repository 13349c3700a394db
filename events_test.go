package belay_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/belay-run/belay/event"
)

// TestEventsDecodeForEver reads one golden record of every kind, as it was
// first written. A golden file is made once (-update) and never changed: what
// was on disk once must be understood for ever.
func TestEventsDecodeForEver(t *testing.T) {
	t.Parallel()
	for _, zero := range event.All() {
		if _, answer := zero.(event.AnswerGiven); !answer {
			decodesForEver(t, zero.Kind(), filled(zero))
		}
	}
	for _, topic := range topics(t) { // each has an answer of its own
		e := event.AnswerGiven{Key: asked(topic), Answer: answerTo(t, topic)}
		decodesForEver(t, e.Kind()+"."+string(topic), e)
	}
}

func decodesForEver(t *testing.T, name string, e event.Event) {
	t.Helper()
	path := filepath.Join("testdata", "events", name+".json")
	want := event.Record{Seq: 7, Epoch: 2, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Run: "k3f9q/build.1", Event: e}
	if _, err := os.Stat(path); *update && os.IsNotExist(err) {
		b, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make gen writes it for a new kind)", err)
	}
	var got event.Record
	if err := json.Unmarshal(b, &got); err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	again, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(bytes.TrimSpace(again), bytes.TrimSpace(b)) {
		t.Errorf("%s is not what it decodes to: a field was renamed or dropped\n%s", path, again)
	}
	if reflect.TypeOf(got.Event) != reflect.TypeOf(e) {
		t.Errorf("%s decodes to %T", path, got.Event)
	}
}

// filled is an event of the same kind with something in every field.
func filled(e event.Event) event.Event {
	return populated(e).(event.Event)
}

// populated is a value of the same type with something in every field.
func populated(of any) any {
	v := reflect.New(reflect.TypeOf(of)).Elem()
	populate(v, 0)
	return v.Interface()
}

func populate(v reflect.Value, depth int) {
	if depth > 5 {
		return
	}
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`"text"`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint64:
		v.SetUint(3)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		populate(v.Index(0), depth+1)
	case reflect.Map:
		elem := reflect.New(v.Type().Elem()).Elem()
		populate(elem, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), elem)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		populate(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			populate(v.Field(i), depth+1)
		}
	}
}
