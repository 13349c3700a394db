package archive

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

const (
	maxManifest = 64 << 10
	perFile     = 4 << 10 // what an entry takes beside its file, at most
	maxTail     = 64 << 10
)

// ReadManifest reads only what an archive says of itself.
func ReadManifest(r io.Reader) (Manifest, error) {
	z, err := gzip.NewReader(bufio.NewReader(r))
	if err != nil {
		return Manifest{}, broken(err)
	}
	return manifest(tar.NewReader(io.LimitReader(z, maxManifest+2*perFile)))
}

// Extract puts the files that are wanted into a folder that is there, and checks
// the whole of the archive. What it has written when it fails is the caller's to
// remove.
func Extract(r io.Reader, to string, most Limits, want func(name string) bool) (Manifest, error) {
	root, err := os.OpenRoot(to) // nothing can be made outside of it
	if err != nil {
		return Manifest{}, err
	}
	m, err := read(r, most, func(name string, body io.Reader) error {
		if want != nil && !want(name) {
			return nil
		}
		return put(root, name, body)
	})
	return m, errors.Join(err, root.Close())
}

func put(root *os.Root, name string, body io.Reader) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// read shows every file of an archive and proves that it is whole: the count and
// the size that it says, the sum at its end, and nothing behind that.
func read(r io.Reader, most Limits, see func(name string, body io.Reader) error) (Manifest, error) {
	raw := bufio.NewReader(r)
	z, err := gzip.NewReader(raw)
	if err != nil {
		return Manifest{}, broken(err)
	}
	z.Multistream(false)
	all := &bounded{r: z, left: most.Bytes + int64(most.Files+2)*perFile + maxManifest}
	t := tar.NewReader(all)
	m, err := manifest(t)
	if err != nil {
		return Manifest{}, err
	}
	if m.Files > most.Files || m.Bytes > most.Bytes {
		return Manifest{}, tooMuch(m.Files, m.Bytes, most)
	}
	if err := entries(t, m, see); err != nil {
		return Manifest{}, err
	}
	if _, err := io.Copy(io.Discard, &bounded{r: all, left: maxTail}); err != nil { // to the sum at the end
		return Manifest{}, broken(err)
	}
	if _, err := raw.ReadByte(); !errors.Is(err, io.EOF) {
		return Manifest{}, refuse("something follows behind its end")
	}
	return m, nil
}

func entries(t *tar.Reader, m Manifest, see func(name string, body io.Reader) error) error {
	seen, bytes := map[string]bool{}, int64(0)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return broken(err)
		}
		if h.Typeflag != tar.TypeReg {
			return refuse("%.100q in it is no regular file", h.Name)
		}
		if err := named(h.Name); err != nil {
			return err
		}
		bytes += h.Size
		switch {
		case seen[h.Name]:
			return refuse("it has %.100q twice", h.Name)
		case len(seen) >= m.Files || h.Size < 0 || bytes > m.Bytes:
			return refuse("it holds more than it says")
		}
		seen[h.Name] = true
		body := &source{r: t}
		err = see(h.Name, body)
		if body.err != nil {
			return broken(body.err)
		}
		if err != nil {
			return err
		}
	}
	if len(seen) != m.Files || bytes != m.Bytes {
		return refuse("it holds less than it says: %d files of %d", len(seen), m.Files)
	}
	return nil
}

func manifest(t *tar.Reader) (m Manifest, err error) {
	h, err := t.Next()
	switch {
	case errors.Is(err, io.EOF):
		return m, refuse("it is empty")
	case err != nil:
		return m, broken(err)
	case h.Name != manifestName || h.Typeflag != tar.TypeReg || h.Size > maxManifest:
		return m, refuse("it is no archive of a run: %s is not its first file", manifestName)
	}
	text, err := io.ReadAll(t)
	if err != nil {
		return m, broken(err)
	}
	var form struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &form); err != nil || form.Format == 0 {
		return m, refuse("%s in it cannot be read", manifestName)
	}
	if form.Format != Format {
		return m, refuse("it has the format %d, and this belay knows %d", form.Format, Format)
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Files < 0 || m.Bytes < 0 {
		return m, refuse("%s in it cannot be read", manifestName)
	}
	return m, nil
}

// broken says in plain words what is wrong with the bytes.
func broken(err error) error {
	var refused *Refused
	switch {
	case errors.As(err, &refused):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse("it is cut off")
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, tar.ErrHeader):
		return refuse("it is no archive of a run")
	case errors.Is(err, gzip.ErrChecksum):
		return refuse("it is damaged: the sum at its end is another")
	}
	return refuse("it cannot be read: %v", err)
}

func tooMuch(files int, bytes int64, most Limits) error {
	return &Refused{Big: true, Why: fmt.Sprintf("it holds %d files with %d bytes, and at most %d files with %d bytes are taken",
		files, bytes, most.Files, most.Bytes)}
}

// bounded ends in a refusal where an archive would go on and on.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		if n, err := b.r.Read(make([]byte, 1)); n == 0 && err != nil {
			return 0, err
		}
		return 0, refuse("it holds more than it says")
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// source remembers that the archive could not be read, and tells it from what
// went wrong with the copy.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
