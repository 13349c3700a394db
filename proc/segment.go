package proc

import (
	"fmt"
	"os"
	"strconv"
)

// A log is kept in segments of an eighth of its limit: the first half and the
// last half of them stay, those between are deleted as it grows.
const (
	segmentCount = 8
	segmentKeep  = segmentCount / 2
)

type segments struct {
	path string
	each int64 // size of one
	n    int   // number of the open one
	file *os.File
	used int64 // of the open one
	kept int64
	dead bool // the disk refused: what comes is counted, not kept
}

func newSegments(path string, limit int64) segments {
	if limit <= 0 {
		limit = DefaultMaxLog
	}
	return segments{path: path, each: max(limit/segmentCount, 1)}
}

func segmentPath(path string, n int) string {
	if n == 0 {
		return path
	}
	return path + "." + strconv.Itoa(n)
}

func (s *segments) write(p []byte) error {
	for len(p) > 0 && !s.dead && s.path != "" {
		if err := s.ready(); err != nil {
			s.dead = true
			return fmt.Errorf("write log: %w", err)
		}
		part := p[:min(int64(len(p)), s.each-s.used)]
		n, err := s.file.Write(part)
		s.used += int64(n)
		s.kept += int64(n)
		if err != nil {
			s.dead = true
			return fmt.Errorf("write log: %w", err)
		}
		p = p[len(part):]
	}
	return nil
}

// ready opens the first segment, or the next one when the open one is full.
func (s *segments) ready() error {
	if s.file != nil && s.used < s.each {
		return nil
	}
	if s.file != nil {
		if err := s.next(); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(segmentPath(s.path, s.n), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	s.file, s.used = f, 0
	return nil
}

func (s *segments) next() error {
	err := s.file.Close()
	s.file = nil
	if err != nil {
		return err
	}
	s.n++
	old := s.n - segmentKeep
	if old < segmentKeep {
		return nil
	}
	s.kept -= s.each
	return os.Remove(segmentPath(s.path, old))
}

func (s *segments) close() error {
	if s.file == nil {
		return nil
	}
	if err := s.file.Close(); err != nil {
		return fmt.Errorf("close log: %w", err)
	}
	return nil
}
