package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

func TestDiscard(t *testing.T) {
	t.Parallel()
	s := newState(t)
	empty, err := s.Create("")
	must(t, err)
	must(t, empty.Discard())
	if exists(string(empty.Folder)) {
		t.Error("a run without records is still there")
	}
	used, err := s.Create("")
	must(t, err)
	fillRun(t, used, 1)
	must(t, used.Discard())
	if recs, err := viewLoad(used.Folder); err != nil || len(recs) != 1 {
		t.Errorf("a run with a record: %v, %v", recs, err)
	}
}

func TestAdoptBlob(t *testing.T) {
	t.Parallel()
	s := newState(t)
	r := newRun(t, s, 1)
	out := r.OutPath("k:build.1")
	text := []byte("what it printed")
	must(t, os.WriteFile(out, text, 0o600))
	sum := sha256.Sum256(text)
	sha := hex.EncodeToString(sum[:])
	for range 2 { // the second time as after a crash: it has its name already
		v, err := r.AdoptBlob(out, sha, int64(len(text)))
		if err != nil || v.Sha != sha || v.Size != int64(len(text)) {
			t.Fatalf("%+v, %v", v, err)
		}
	}
	if got, err := r.ReadBlob(sha, 100); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := r.AdoptBlob(out, hex.EncodeToString(make([]byte, 32)), 1); err == nil {
		t.Error("a file that is not there became a blob")
	}
}
