package proc

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/belay-run/belay/fault"
)

func TestTail(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"short", "abc", "abc"},
		{"cut rune", strings.Repeat("ä", maxTail) + "x", strings.Repeat("ä", maxTail/2-1) + "x"},
		{"bad bytes", "a\xffb", "a�b"},
		{"long", strings.Repeat("x", 5000) + "end", strings.Repeat("x", maxTail-3) + "end"},
	}
	for _, tt := range tests {
		for _, size := range []int{1, 7, 4096, 100000} {
			var tail []byte
			for part := range chunks(tt.in, size) {
				tail = keepTail(tail, []byte(part))
			}
			if got := string(cleanTail(tail)); got != tt.want {
				t.Errorf("%s in pieces of %d: %d bytes, %.20q", tt.name, size, len(got), got)
			}
		}
	}
}

// Of two pipes nobody knows what was printed first: the tail is the same whatever came
// first, that of standard error last, and each stream has half of it where both are long.
func TestTailOfTwoStreams(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, out, talk, want string }{
		{"both", "to out\nmore out", "to err\n", "to out\nmore out\nto err\n"},
		{"only out", "to out\n", "", "to out\n"},
		{"only talk", "", "to err\n", "to err\n"},
		{"long", strings.Repeat("ä", maxTail), strings.Repeat("x", maxTail), strings.Repeat("ä", maxTail/4-1) + "\n" + strings.Repeat("x", maxTail/2+1)},
		{"long out", strings.Repeat("x", maxTail) + "\n", "err\n", strings.Repeat("x", maxTail-5) + "\nerr\n"},
		{"long talk", "out\n", strings.Repeat("x", maxTail), "out\n" + strings.Repeat("x", maxTail-4)},
	} {
		for _, first := range []bool{true, false} {
			o := newOutput(&Spawn{Log: filepath.Join(t.TempDir(), "log"), Out: filepath.Join(t.TempDir(), "out")})
			for _, std := range []bool{first, !first} {
				text := tt.talk
				if std {
					text = tt.out
				}
				for part := range chunks(text, 100) {
					o.take([]byte(part), std)
				}
			}
			var e Exit
			o.settle(&e)
			if got := string(e.Tail); got != tt.want {
				t.Errorf("%s, standard output first %v: %d bytes, %.20q…", tt.name, first, len(got), got)
			}
		}
	}
}

func chunks(s string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			part := s[:min(n, len(s))]
			s = s[len(part):]
			if !yield(part) {
				return
			}
		}
	}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 9, 10, 11, 79, 80, 81, 95, 1003} {
		for _, piece := range []int{1, 3, 10, 64, 5000} {
			path := filepath.Join(t.TempDir(), "log")
			want := strings.Repeat("0123456789abcdef", 100)[:size]
			s := newSegments(path, 80)
			for part := range chunks(want, piece) {
				if err := s.write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.close(); err != nil {
				t.Fatal(err)
			}
			if size == 0 {
				if _, err := os.Stat(path); !os.IsNotExist(err) {
					t.Errorf("empty: %v", err)
				}
				continue
			}
			checkLog(t, path, want, s.kept)
		}
	}
}

func checkLog(t *testing.T, path, want string, kept int64) {
	t.Helper()
	l := FollowLog(path)
	defer l.Close()
	b, err := io.ReadAll(iotest.OneByteReader(l))
	if err != nil {
		t.Fatal(err)
	}
	if left := len(want) - int(kept); left > 0 {
		tail := want[40+left:]
		want = want[:40] + fmt.Sprintf("\n… %d bytes left out …\n", left) + tail
	}
	if string(b) != want {
		t.Errorf("%d bytes: %q\nnot %q", len(want), b, want)
	}
	if kept > 80 {
		t.Errorf("%d bytes kept", kept)
	}
}

// A follower that asks again and again sees every byte once, and a gap where it
// was too slow.
func TestFollowLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	l := FollowLog(path)
	defer l.Close()
	more := func() string {
		b, err := io.ReadAll(l)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := more(); got != "" {
		t.Errorf("before the first byte: %q", got)
	}
	s := newSegments(path, 80)
	var seen, all string
	for i := range 30 {
		part := fmt.Sprintf("<%d>", i)
		all += part
		if err := s.write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		seen += more()
	}
	if seen != all {
		t.Errorf("saw %q\nnot %q", seen, all)
	}
	if err := s.write([]byte(strings.Repeat("y", 200))); err != nil {
		t.Fatal(err)
	}
	if got := more(); !strings.Contains(got, "bytes left out") || !strings.HasSuffix(got, "yyy") {
		t.Errorf("after a leap: %q", got)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
}

// What the disk refuses is said; the program is drained all the same.
func TestDiskRefuses(t *testing.T) {
	t.Parallel()
	o := newOutput(&Spawn{Log: "/dev/full", Out: filepath.Join(t.TempDir(), "out")})
	for range 3 {
		o.take([]byte("hello"), true)
	}
	var e Exit
	o.settle(&e)
	if e.Fault != fault.Disk || e.LogSize != 15 || e.LogKept != 0 || string(e.OutInline) != "hellohellohello" {
		t.Errorf("%+v", e)
	}
}
