//go:build linux && failpoints

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/belay-run/belay/exit"
)

// crashDamage changes one byte of a record: every command that reads it says
// so, and none touches the file.
//
// promise: X7
func crashDamage(t *testing.T, b *bench) {
	t.Helper()
	for name, prepare := range map[string]func(*rig) error{
		"after the end": func(r *rig) error { return r.want(exit.OK, "run", "crash.yaml") },
		"after a kill":  killInTheMiddle,
	} {
		if err := b.damage(prepare); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	b.say("damage: a changed record after an end and after a kill, read by resume, show and logs")
}

func killInTheMiddle(r *rig) error {
	c, err := r.start(nil, "run", "crash.yaml")
	if err != nil {
		return err
	}
	err = r.exists("paid")
	c.signal(syscall.SIGKILL)
	<-c.done
	if err != nil {
		return err
	}
	return until("the keeper leaves", func() bool { return len(carrying(r.mark)) == 0 })
}

func (b *bench) damage(prepare func(*rig) error) error {
	r, err := b.newRig(b.shipped)
	if err != nil {
		return err
	}
	defer r.wipe()
	if err := prepare(r); err != nil {
		return err
	}
	if err := r.flip(); err != nil {
		return err
	}
	before, err := r.print()
	if err != nil {
		return err
	}
	id := string(r.id())
	for _, args := range [][]string{{"resume", id}, {"show", id}, {"show", id, "--json"}, {"show", id, "--records"}, {"logs", id, "start"}} {
		if err := r.want(exit.Damaged, args...); err != nil {
			return err
		}
		after, err := r.print()
		if err != nil {
			return err
		}
		if before != after {
			return fmt.Errorf("belay %v changed the damaged journal", args)
		}
	}
	return nil
}

// flip changes one digit of a record that is not the last one, so that what
// it says still makes sense: the year in which the step join began.
func (r *rig) flip() error {
	record := fmt.Sprintf(`"key":"%s:join.1","observation":`, r.id())
	for _, name := range []string{"journal.db-wal", "journal.db"} {
		file := filepath.Join(string(r.folder()), name)
		b, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		found := false
		for at := 0; ; { // a page may hold old copies of it too
			next := bytes.Index(b[at:], []byte(record))
			if next < 0 {
				break
			}
			at += next + len(record)
			if year := bytes.Index(b[at:], []byte(`"started":"2`)); year >= 0 {
				b[at+year+len(`"started":"202`)] ^= 1
				found = true
			}
		}
		if found {
			return os.WriteFile(file, b, 0o600)
		}
	}
	return errors.New("the record to be changed was not found")
}

// print is the digest of the files that hold the records.
func (r *rig) print() (string, error) {
	sum := sha256.New()
	for _, name := range []string{"journal.db", "journal.db-wal"} {
		b, err := os.ReadFile(filepath.Join(string(r.folder()), name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(sum, "%s %d ", name, len(b))
		_, _ = sum.Write(b) // a hash takes everything
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
