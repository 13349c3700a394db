package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LogReader reads a log as one text, whatever files it is kept in; where bytes
// were left out it says how many. At the end of what is there it gives io.EOF;
// a later Read goes on with what came since, so a caller can follow a log by
// asking again.
type LogReader struct {
	path   string
	n      int
	file   *os.File
	each   int64 // size of a full segment, once one was read to its end
	read   int64 // of the open one
	notice []byte
}

// FollowLog reads a log that may not be there yet: it is made at the first byte.
func FollowLog(path string) *LogReader { return &LogReader{path: path} }

func (r *LogReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if len(r.notice) > 0 {
			n := copy(p, r.notice)
			r.notice = r.notice[n:]
			return n, nil
		}
		if r.file == nil {
			if err := r.open(); err != nil {
				return 0, err
			}
			continue
		}
		n, err := r.piece(p)
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// piece reads from the open segment. At its end it asks whether a later one is
// there before it reads once more: a segment is full before the next is made.
func (r *LogReader) piece(p []byte) (int, error) {
	n, err := r.take(p)
	if n > 0 || err != nil {
		return n, err
	}
	later, err := r.later(r.n + 1)
	if err != nil {
		return 0, err
	}
	if later < 0 {
		return 0, io.EOF
	}
	if n, err = r.take(p); n > 0 || err != nil {
		return n, err
	}
	r.each = max(r.each, r.read)
	err = r.file.Close()
	r.file, r.read = nil, 0
	r.n++
	return 0, err
}

func (r *LogReader) take(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.read += int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// open opens the segment that is due, or the next that is left and a notice of
// what lies between.
func (r *LogReader) open() error {
	for {
		f, err := os.Open(segmentPath(r.path, r.n))
		if err == nil {
			r.file = f
			return nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("open log: %w", err)
		}
		later, err := r.later(r.n)
		if err != nil {
			return err
		}
		if later < 0 {
			return io.EOF
		}
		if later > r.n {
			r.notice = fmt.Appendf(r.notice, "\n… %d bytes left out …\n", int64(later-r.n)*r.each)
			r.n = later
		}
	}
}

// later is the lowest number, at least n, of a segment that is there; -1 = none.
func (r *LogReader) later(n int) (int, error) {
	if n < segmentKeep { // the first ones are never deleted: no need to list a big folder
		if _, err := os.Lstat(segmentPath(r.path, n)); err != nil {
			return -1, nil
		}
		return n, nil
	}
	entries, err := os.ReadDir(filepath.Dir(r.path))
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return -1, nil
		}
		return -1, fmt.Errorf("list log: %w", err)
	}
	found, base := -1, filepath.Base(r.path)
	for _, e := range entries {
		k := segmentNumber(e.Name(), base)
		if k >= n && (found < 0 || k < found) {
			found = k
		}
	}
	return found, nil
}

func segmentNumber(name, base string) int {
	if name == base {
		return 0
	}
	rest, ok := strings.CutPrefix(name, base+".")
	if !ok {
		return -1
	}
	k, err := strconv.Atoi(rest)
	if err != nil || k < 1 || strconv.Itoa(k) != rest {
		return -1
	}
	return k
}

// Close closes the file that is open.
func (r *LogReader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
