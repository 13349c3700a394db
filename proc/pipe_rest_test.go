package proc

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"
)

// kept takes what a pump carries.
type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }

// What was written before the time of a pipe was over is carried, also when
// nobody came to read it until then: the disk was slow, or the machine stood still.
func TestLateReaderLosesNothing(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() // a stranger holds it: there is no end to wait for
	want := bytes.Repeat([]byte("0123456789"), 6000)
	if _, err := w.Write(want); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	var got kept
	k := &keeper{}
	k.buffers.New = func() any { b := make([]byte, pumpSize); return &b }
	k.pump(r, &got)
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d of %d bytes", got.Len(), len(want))
	}
}

// Who writes on and on is not followed for ever.
func TestRestIsBounded(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	more := make([]byte, 4096)
	total := 0
	write := func() {
		if _, err := w.Write(more); err != nil {
			t.Fatal(err)
		}
	}
	write()
	Rest(r, make([]byte, 4096), func(b []byte) {
		total += len(b)
		write() // there is always one more
	})
	if total < restMost || total > restMost+len(more) {
		t.Errorf("%d bytes were followed", total)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	Rest(r, more, func([]byte) {})
	if _, err := r.Read(more); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("its time is over for good")
	}
}
