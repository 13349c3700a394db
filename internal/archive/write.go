package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// fileMode is the mode of everything in an archive.
const fileMode = 0o600

// Write writes an archive: the manifest, which it completes and gives back, and
// the files.
func Write(w io.Writer, m Manifest, files []File) (Manifest, error) {
	m.Format, m.Files, m.Bytes = Format, len(files), 0
	for _, f := range files {
		m.Bytes += f.Size
	}
	head, err := json.Marshal(m)
	if err != nil {
		return m, fmt.Errorf("encode manifest: %w", err)
	}
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: manifestName, Size: int64(len(head)), Mode: fileMode, ModTime: m.Made})
	if err == nil {
		_, err = t.Write(head)
	}
	for _, f := range files {
		if err == nil {
			err = add(t, f)
		}
	}
	return m, errors.Join(err, t.Close(), z.Close())
}

func add(t *tar.Writer, f File) error {
	src, err := open(f)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only: nothing to lose
	err = t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.Name, Size: f.Size, Mode: fileMode, ModTime: f.Time})
	if err == nil {
		_, err = io.CopyN(t, src, f.Size) // what is written to it meanwhile is left out
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", f.Path, err)
	}
	return nil
}

func open(f File) (*os.File, error) {
	src, err := os.OpenFile(f.Path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := src.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", f.Path)
	}
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return src, nil
}

// Same proves that an archive holds exactly these files.
func Same(r io.Reader, files []File) error {
	left := map[string]File{}
	for _, f := range files {
		left[f.Name] = f
	}
	_, err := read(r, Limits{Files: len(files), Bytes: sum(files)}, func(name string, body io.Reader) error {
		f, ok := left[name]
		if !ok {
			return refuse("it has a file %q twice, or one that the run has not", name)
		}
		delete(left, name)
		return sameBytes(f, body)
	})
	if err == nil && len(left) > 0 {
		err = refuse("%d files are missing in it", len(left))
	}
	return err
}

func sum(files []File) (n int64) {
	for _, f := range files {
		n += f.Size
	}
	return n
}

func sameBytes(f File, body io.Reader) error {
	src, err := open(f)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // read only: nothing to lose
	want := io.LimitReader(src, f.Size)
	a, b := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(body, a)
		k, errWant := io.ReadFull(want, b)
		over := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err != nil && !over:
			return err
		case errWant != nil && !errors.Is(errWant, io.EOF) && !errors.Is(errWant, io.ErrUnexpectedEOF):
			return errWant
		case n != k || !bytes.Equal(a[:n], b[:k]):
			return refuse("%s is not as it was written", f.Name)
		case over:
			return nil
		}
	}
}
