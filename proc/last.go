package proc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Last is the last sign of a run's keepers: when they wrote down something, and
// whether an attempt began whose end none of them saw. A keeper writes the end
// of an attempt when nothing of it is left. A run without a log has none.
func Last(dir string) (at time.Time, open bool, err error) {
	f, err := os.Open(filepath.Join(dir, ledgerName))
	if errors.Is(err, os.ErrNotExist) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("open keeper log: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, false, fmt.Errorf("look at keeper log: %w", err)
	}
	open, err = unended(f)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read keeper log: %w", err)
	}
	return info.ModTime(), open, nil
}

// unended tells whether a log has a birth without an end. A keeper that comes
// after a dead one finds nothing alive: what that one held is over.
func unended(r io.Reader) (bool, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	born := map[string]bool{}
	keeper := Identity{}
	for begins := true; ; {
		part, err := in.ReadSlice('\n')
		whole := begins && err == nil
		if begins && (whole || errors.Is(err, bufio.ErrBufferFull)) { // a long line tells its key at its beginning
			keeper = follow(part, born, keeper)
		}
		switch {
		case errors.Is(err, io.EOF):
			return len(born) > 0, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
		begins = err == nil
	}
}

// follow takes in one line, and gives the keeper that wrote it.
func follow(line []byte, born map[string]bool, keeper Identity) Identity {
	if rest, ok := bytes.CutPrefix(line, []byte(`{"birth":`)); ok {
		born[string(token(rest))] = true
		return keeper
	}
	if rest, ok := bytes.CutPrefix(line, []byte(`{"exit":{"key":`)); ok {
		delete(born, string(token(rest)))
		return keeper
	}
	var b book
	if b.rareLine(line); b.kept && b.keeper != keeper {
		clear(born)
		return b.keeper
	}
	return keeper
}
