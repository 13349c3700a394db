package redact

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// Only what may begin a secret is held back, so that a log can be followed.
func TestWriterHoldsBackNoMoreThanItMust(t *testing.T) {
	var out bytes.Buffer
	w := New([]string{"s3cr3t-value-of-some-length"}).Writer(&out)
	for _, c := range []struct{ write, seen string }{
		{"continue? ", "continue? "},
		{"s3cr", "continue? "},
		{"et, no", "continue? s3cret, no"},
		{" s3cr3t-value-of", "continue? s3cret, no "},
		{"-some-length.", "continue? s3cret, no [REDACTED]."},
		{"s3cr3t-value", "continue? s3cret, no [REDACTED]."},
	} {
		if _, err := io.WriteString(w, c.write); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.seen {
			t.Errorf("after %q: %q, want %q", c.write, out.String(), c.seen)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "continue? s3cret, no [REDACTED].[REDACTED]"; out.String() != want {
		t.Errorf("after close: %q, want %q", out.String(), want)
	}
}

func TestWriterIsBounded(t *testing.T) {
	long := strings.Repeat("ab1-", 500)
	r := New([]string{long})
	w := r.Writer(io.Discard)
	big := []byte(strings.Repeat(long[:1999]+"?", 1000)) // always almost a secret
	for range 3 {
		if _, err := w.Write(big); err != nil {
			t.Fatal(err)
		}
		longest := 4 * len(long) // more than any encoding has
		if len(w.held) >= longest || cap(w.held) > 4*(piece+longest) || cap(w.out) > 4*(piece+longest) {
			t.Fatalf("held %d (cap %d), out cap %d", len(w.held), cap(w.held), cap(w.out))
		}
	}
}

func TestWriterWithNothingToHideIsThere(t *testing.T) {
	var out bytes.Buffer
	w := new(Redactor).Writer(&out)
	p := []byte("any bytes \x00\xff")
	if n := testing.AllocsPerRun(10, func() {
		out.Reset()
		if _, err := w.Write(p); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per write", n)
	}
	if !bytes.Equal(out.Bytes(), p) {
		t.Errorf("got %q", out.Bytes())
	}
}

type broken struct{ short bool }

var errBroken = errors.New("broken")

func (b broken) Write(p []byte) (int, error) {
	if b.short {
		return len(p) - 1, nil
	}
	return 0, errBroken
}

func TestWriterErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		to   broken
		want error
	}{
		{"error", broken{}, errBroken},
		{"short write", broken{short: true}, io.ErrShortWrite},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := New([]string{"abcdefgh"}).Writer(c.to)
			if _, err := io.WriteString(w, "text"); !errors.Is(err, c.want) {
				t.Errorf("write: %v, want %v", err, c.want)
			}
			if _, err := io.WriteString(w, "more"); !errors.Is(err, c.want) {
				t.Errorf("second write: %v, want %v", err, c.want)
			}
			if err := w.Close(); !errors.Is(err, c.want) {
				t.Errorf("close: %v, want %v", err, c.want)
			}
		})
	}
}

func TestWriterAfterClose(t *testing.T) {
	var out bytes.Buffer
	w := New([]string{"abcdefgh"}).Writer(&out)
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Errorf("close twice: %v", err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, ErrClosed) || out.Len() != 0 {
		t.Errorf("write after close: %v, %q", err, out.String())
	}
}
