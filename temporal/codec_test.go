package temporal_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/temporal"
)

// TestTooBig: what is too big for the server is refused before it is sent, and goes where
// there is a directory for it.
//
// promise: X
func TestTooBig(t *testing.T) {
	t.Parallel()
	random := make([]byte, 3<<20)
	_, _ = rand.Read(random) // never fails: it ends the process instead
	var big *temporal.TooBig
	if _, err := (temporal.Codec{}).Converter().ToPayloads("small", random); !errors.As(err, &big) || big.Size < 2<<20 {
		t.Errorf("3 MiB that nothing packs: %v", err)
	}
	if _, err := (temporal.Codec{}).Converter().ToPayloads(make([]byte, 3<<20)); err != nil {
		t.Errorf("3 MiB of nothing: %v", err)
	}
	dir := t.TempDir()
	c := temporal.Codec{Dir: dir}.Converter()
	p, err := c.ToPayloads("small", random)
	if err != nil {
		t.Fatal(err)
	}
	var small string
	var got []byte
	if err := c.FromPayloads(p, &small, &got); err != nil || string(got) != string(random) {
		t.Errorf("it came back as %d bytes: %v", len(got), err)
	}
}

// TestBlobUsedAgain: a file that is named once more is as young as a new one, for who removes
// old ones.
func TestBlobUsedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	random := make([]byte, 1<<20)
	_, _ = rand.Read(random) // never fails: it ends the process instead
	keep := func() (file string) {
		if _, err := (temporal.Codec{Dir: dir}).Converter().ToPayloads(random); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				file = path
			}
			return err
		})
		if err != nil || file == "" {
			t.Fatalf("nothing was kept: %v", err)
		}
		return file
	}
	file, old := keep(), time.Now().Add(-100*time.Hour)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(keep())
	if err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("%v %v", info, err)
	}
}
