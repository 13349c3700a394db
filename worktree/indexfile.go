package worktree

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// indexed is an entry of git's index.
type indexed struct {
	path    string
	mode    string // "100644"
	id      string
	stage   int   // not 0: one side of a conflict
	size    int64 // of the file when git looked last; 0 when git must look again, and when git was asked for the entry
	assumed bool  // git takes the file for unchanged without a look
	skipped bool  // the same, and the file need not be there
}

// entry is "mode id" of it. A path in conflict has none that is equal to anything.
func (e indexed) entry() string {
	if e.stage != 0 {
		return unseen
	}
	return e.mode + " " + e.id
}

// errIndex is given for an index that only git can read: it is in several files,
// has whole folders as entries, or is of a kind that came later.
var errIndex = errors.New("an index that only git can read")

// fromIndex are the entries that one wants of the tree's index, in git's order. The
// file is read as it is: to ask git is a process, and the names of all files through
// a pipe and in memory.
func (p place) fromIndex(ctx context.Context, want func(rawEntry) bool) ([]indexed, error) {
	file := filepath.Join(p.own, "index")
	if p.index != "" {
		file = p.index
	}
	var list []indexed
	err := readIndex(file, len(p.zero)/2, func(r rawEntry) {
		if want(r) {
			list = append(list, r.whole())
		}
	})
	if errors.Is(err, errIndex) {
		return p.askIndex(ctx, want)
	}
	return list, err
}

// askIndex is fromIndex by git.
func (p place) askIndex(ctx context.Context, want func(rawEntry) bool) ([]indexed, error) {
	out, err := p.run(ctx, "ls-files", "--cached", "--stage", "-v", "-z")
	if err != nil {
		return nil, err
	}
	var list []indexed
	for rec := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		about, path, _ := strings.Cut(rec, "\t")
		var tag, id string
		var r rawEntry
		if _, err := fmt.Sscanf(about, "%s %o %s %d", &tag, &r.mode, &id, &r.stage); err != nil {
			if rec == "" {
				continue
			}
			return nil, fmt.Errorf("git prints %q for an entry", rec)
		}
		r.path, r.assumed, r.skipped = []byte(path), tag == strings.ToLower(tag), strings.ToUpper(tag) == "S"
		if r.id, err = hex.DecodeString(id); err != nil {
			return nil, fmt.Errorf("git prints %q for an entry", rec)
		}
		if want(r) {
			list = append(list, r.whole())
		}
	}
	return list, nil
}

// rawEntry is an entry as it is read. Its path and id hold until the next one.
type rawEntry struct {
	path, id         []byte
	mode             uint32
	stage            int
	size             int64
	assumed, skipped bool
}

func (r rawEntry) whole() indexed {
	return indexed{
		path: string(r.path), mode: fmt.Sprintf("%06o", r.mode), id: hex.EncodeToString(r.id),
		stage: r.stage, size: r.size, assumed: r.assumed, skipped: r.skipped,
	}
}

// readIndex reads the entries of an index file of git (gitformat-index, versions 2 to
// 4). A file that is not there has none.
func readIndex(file string, idLen int, each func(rawEntry)) error {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil // nothing was ever added
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r := &indexReader{in: bufio.NewReaderSize(f, 64<<10), idLen: idLen}
	if err := r.entries(each); err != nil {
		return err
	}
	return r.extensions(info.Size() - int64(idLen))
}

// indexReader is an index file that is read, front to back.
type indexReader struct {
	in      *bufio.Reader
	idLen   int
	version uint32
	at      int64
	path    []byte
	fixed   [40 + 32 + 4]byte
}

// take reads the next bytes. An index that ends in the middle is for git to judge.
func (r *indexReader) take(n int) ([]byte, error) {
	b := r.fixed[:n]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, errIndex
	}
	r.at += int64(n)
	return b, nil
}

func (r *indexReader) entries(each func(rawEntry)) error {
	head, err := r.take(12)
	if err != nil {
		return err
	}
	r.version = binary.BigEndian.Uint32(head[4:])
	if string(head[:4]) != "DIRC" || r.version < 2 || r.version > 4 {
		return errIndex
	}
	for n := binary.BigEndian.Uint32(head[8:]); n > 0; n-- {
		e, err := r.next()
		if err != nil {
			return err
		}
		each(e)
	}
	return nil
}

// next is the next entry: what the system says of the file, its id, flags, its name.
func (r *indexReader) next() (rawEntry, error) {
	began := r.at
	b, err := r.take(40 + r.idLen + 2)
	if err != nil {
		return rawEntry{}, err
	}
	flags := binary.BigEndian.Uint16(b[40+r.idLen:])
	e := rawEntry{
		id: b[40 : 40+r.idLen], mode: binary.BigEndian.Uint32(b[24:]), size: int64(binary.BigEndian.Uint32(b[36:])),
		stage: int(flags >> 12 & 3), assumed: flags&0x8000 != 0,
	}
	if flags&0x4000 != 0 {
		var more [2]byte
		if _, err := io.ReadFull(r.in, more[:]); err != nil || r.version < 3 {
			return rawEntry{}, errIndex
		}
		r.at += 2
		e.skipped = more[0]&0x40 != 0
	}
	if err := r.name(began); err != nil {
		return rawEntry{}, err
	}
	e.path = r.path
	return e, nil
}

// name reads the name of the entry that began there, and what fills it up.
func (r *indexReader) name(began int64) error {
	keep := 0
	if r.version == 4 { // so much of the last name is taken off, and the rest comes before this
		off, err := r.number()
		if err != nil || off > len(r.path) {
			return errIndex
		}
		keep = len(r.path) - off
	}
	r.path = r.path[:keep]
	for {
		part, err := r.in.ReadSlice(0)
		r.at += int64(len(part))
		r.path = append(r.path, part...)
		if err == nil {
			break
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return errIndex
		}
	}
	r.path = r.path[:len(r.path)-1]
	if fill := (began - r.at) & 7; r.version != 4 && fill > 0 {
		if _, err := r.take(int(fill)); err != nil {
			return err
		}
	}
	return nil
}

// number reads a number of version 4.
func (r *indexReader) number() (int, error) {
	n := 0
	for i := range 4 {
		c, err := r.in.ReadByte()
		if err != nil {
			return 0, errIndex
		}
		r.at++
		if n = n<<7 | int(c&0x7f); i > 0 {
			n += 1 << 7 // each byte more stands for one more than the last could
		}
		if c&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errIndex
}

// extensions goes over what follows the entries. What must be understood to know the
// entries has a name in small letters.
func (r *indexReader) extensions(end int64) error {
	for r.at < end {
		b, err := r.take(8)
		if err != nil || bytes.ContainsFunc(b[:1], func(c rune) bool { return c >= 'a' }) {
			return errIndex
		}
		size := int64(binary.BigEndian.Uint32(b[4:]))
		if _, err := r.in.Discard(int(size)); err != nil {
			return errIndex
		}
		r.at += size
	}
	if r.at != end {
		return errIndex
	}
	return nil
}
