package attend

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"
)

// What was said in time is heard, although the listener comes late; who goes on
// talking is not listened to for ever.
// promise: L
func TestEarHearsWhatWasSaid(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // held open: nobody may wait for its end
	defer r.Close()
	want := bytes.Repeat([]byte("last words\n"), 3000) // less than a pipe holds
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(&ear{File: r})
	if !errors.Is(err, os.ErrDeadlineExceeded) || !bytes.Equal(got, want) {
		t.Errorf("read %d of %d bytes: %v", len(got), len(want), err)
	}
	endless := &ear{File: r}
	for chunk := make([]byte, 1<<15); endless.late < maxLeft; {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
		if _, err := endless.Read(chunk); err != nil {
			t.Fatalf("after %d bytes: %v", endless.late, err)
		}
	}
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if n, err := endless.Read(make([]byte, 10)); n != 0 || err == nil {
		t.Errorf("read %d more bytes after %d", n, maxLeft)
	}
}
