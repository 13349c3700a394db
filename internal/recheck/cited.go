package recheck

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxCited bounds how much of a file is read for a citation.
const maxCited = 64 << 20

// Cited looks whether a line of a file below a directory still has what is quoted
// from it.
func Cited(dir, path string, line int, quote string) Result {
	begun := time.Now()
	passed, why, err := cited(dir, path, line, quote)
	res := Result{Passed: passed, Ran: err == nil, Text: why, Took: time.Since(begun)}
	if err != nil {
		res.Text = err.Error()
	}
	return res
}

func cited(dir, path string, line int, quote string) (holds bool, why string, err error) {
	if !filepath.IsLocal(path) || quote == "" || line < 1 {
		return false, "it is no place in the directory", nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false, "", err
	}
	defer func() { _ = root.Close() }() // only read
	info, err := root.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, "the file is gone", nil
	case err != nil:
		return false, "", err
	case !info.Mode().IsRegular():
		return false, "it is no file any more", nil
	}
	f, err := root.Open(path)
	if err != nil {
		return false, "", err
	}
	defer func() { _ = f.Close() }() // only read
	in := bufio.NewReader(io.LimitReader(f, maxCited))
	for n := 1; ; n++ {
		text, err := in.ReadString('\n')
		switch {
		case n == line && strings.Contains(text, quote):
			return true, "the line has the quote", nil
		case n == line && text != "":
			return false, "the line has another text now", nil
		case errors.Is(err, io.EOF):
			return false, fmt.Sprintf("the file has no line %d any more", line), nil
		case err != nil:
			return false, "", err
		}
	}
}
