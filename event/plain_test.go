package event

import (
	"reflect"
	"testing"
)

// plainBodies are bodies as drivers write them, and near ones that are odd.
var plainBodies = []struct {
	kind, body string
	plain      bool
}{
	{"attempt.started", `{"key":"r:s.1","step":"s","role":"main","attempt":1}`, true},
	{"attempt.started", `{"key":"r:s.1","step":"ä","role":"verify","attempt":12,"once":true,"child":"r/s.1"}`, true},
	{"attempt.started", `{"key":"r:s.1","step":"s","role":"main","attempt":1,"agent":"claude"}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":0,"started":"2026-01-02T03:04:05.000000006Z","ended":"2026-01-02T05:04:05+02:00","cpu_us":7,"rss_kb":9}}`, true},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":3,"log_size":4,"log_sha":"ab","log_kept":4,"tail":"a\t\"b\\\"\r\n\/"}}`, true},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":0,"tail":"\u003c"}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":-1}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":01}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":1.5}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":0,"started":"yesterday"}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":0,"outputs":{"x":{"json":1}}}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{}}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":0}`, false},
	{"attempt.ended", `{"key":"r:s.1","observation":{"began":true,"exit":0}}}`, false},
	{"attempt.ended", `{"KEY":"r:s.1","observation":{"began":true,"exit":0}}`, false},
	{"attempt.judged", `{"key":"r:s.1","verdict":{"ok":true,"basis":"exit","for":["exit 0"]}}`, true},
	{"attempt.judged", `{"key":"r:s.1","verdict":{"ok":true,"basis":"tests","for":["exit 0","tests pass"],"against":["x"],"confidence":80}}`, true},
	{"attempt.judged", `{"key":"r:s.1","verdict":{"ok":true,"for":[]}}`, false},
	{"attempt.judged", `{"key":"r:s.1","verdict":{"ok":false,"failure":{"class":"x"}}}`, false},
	{"attempt.judged", `{"key":null,"verdict":{"ok":true}}`, false},
	{"attempt.judged", "{\"key\":\"a\xff\",\"verdict\":{\"ok\":true}}", false},
	{"attempt.judged", "{\"key\":\"a\nb\",\"verdict\":{\"ok\":true}}", false},
	{"run.ended", `{"status":"ACHIEVED"}`, false},
	{"attempt.started", ``, false},
	{"attempt.started", `{"key":"r:s.1",}`, false},
	{"attempt.started", `{}`, false},
}

// samePlain compares the short way of a body with that of encoding/json, and tells
// whether it was taken.
func samePlain(t *testing.T, kind, body string) bool {
	t.Helper()
	got := plain(kind, []byte(body))
	if got == nil {
		return false
	}
	want, err := decodeAny(kind, []byte(body))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s %s\nis read as   %#v\nnot as       %#v (%v)", kind, body, got, want, err)
	}
	return true
}

// TestPlainBodies holds the short way of the usual records against encoding/json.
func TestPlainBodies(t *testing.T) {
	t.Parallel()
	for _, b := range plainBodies {
		if took := samePlain(t, b.kind, b.body); took != b.plain {
			t.Errorf("%s %s: taken %v, want %v", b.kind, b.body, took, b.plain)
		}
	}
}

func FuzzPlainBody(f *testing.F) {
	for _, b := range plainBodies {
		f.Add(b.kind, b.body)
	}
	f.Fuzz(func(t *testing.T, kind, body string) { samePlain(t, kind, body) })
}
