package journal

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
)

// tape is a VFS over the real one that writes down what reaches the disk, so
// that a power cut can be played at any point of it, and that can refuse.
type tape struct {
	ops   []op
	lying bool                    // syncs are acknowledged and not done
	fail  func(kind opKind) error // nil: nothing is refused
}

type opKind int

const (
	opWrite opKind = iota
	opTruncate
	opSync
	opMake    // a name gets a new file
	opUnlink  // a name goes away
	opSyncDir // names become durable
	opAck     // so many records were acknowledged
)

type op struct {
	kind opKind
	name string
	off  int64 // or the size, or the number of records
	data []byte
}

// newTape registers a tape under the test's name.
func newTape(t *testing.T) (*tape, disk) {
	t.Helper()
	tp := &tape{}
	vfs.Register(t.Name(), tp)
	t.Cleanup(func() { vfs.Unregister(t.Name()) })
	return tp, disk{vfs: t.Name(), sync: func(path string) error {
		switch {
		case isDir(path):
			tp.note(op{kind: opSyncDir})
		case !tp.lying:
			tp.note(op{kind: opSync, name: filepath.Base(path)})
		}
		return syncDir(path)
	}}
}

func (tp *tape) note(o op) { tp.ops = append(tp.ops, o) }

func (tp *tape) refuse(kind opKind) error {
	if tp.fail == nil {
		return nil
	}
	return tp.fail(kind)
}

func (tp *tape) system() vfs.VFSFilename { return vfs.Find("os").(vfs.VFSFilename) }

func (tp *tape) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return tp.system().Open(name, flags)
}

func (tp *tape) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := tp.system().OpenFilename(name, flags)
	if err != nil || name == nil {
		return f, flags, err
	}
	base := filepath.Base(name.String())
	if !tp.has(base) {
		tp.note(op{kind: opMake, name: base})
	}
	return &taped{File: f, tape: tp, name: base}, flags, nil
}

// has tells whether a name is there at the end of the tape.
func (tp *tape) has(name string) bool {
	there := false
	for _, o := range tp.ops {
		if o.name == name && (o.kind == opMake || o.kind == opUnlink) {
			there = o.kind == opMake
		}
	}
	return there
}

func (tp *tape) Delete(name string, dir bool) error {
	tp.note(op{kind: opUnlink, name: filepath.Base(name)})
	if dir {
		tp.note(op{kind: opSyncDir})
	}
	return tp.system().Delete(name, dir)
}

func (tp *tape) Access(name string, flags vfs.AccessFlag) (bool, error) {
	return tp.system().Access(name, flags)
}

func (tp *tape) FullPathname(name string) (string, error) { return tp.system().FullPathname(name) }

type taped struct {
	vfs.File
	tape *tape
	name string
}

func (f *taped) WriteAt(p []byte, off int64) (int, error) {
	if err := f.tape.refuse(opWrite); err != nil {
		return 0, err
	}
	f.tape.note(op{kind: opWrite, name: f.name, off: off, data: bytes.Clone(p)})
	return f.File.WriteAt(p, off)
}

func (f *taped) Truncate(size int64) error {
	if err := f.tape.refuse(opTruncate); err != nil {
		return err
	}
	f.tape.note(op{kind: opTruncate, name: f.name, off: size})
	return f.File.Truncate(size)
}

// Sync does not touch the real disk: what a cut leaves is made from the tape.
func (f *taped) Sync(vfs.SyncFlag) error {
	if err := f.tape.refuse(opSync); err != nil {
		return err
	}
	if !f.tape.lying {
		f.tape.note(op{kind: opSync, name: f.name})
	}
	return nil
}

func (f *taped) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}

// harm is what becomes of the writes that were not synced when the power went.
type harm int

const (
	harmDrop harm = iota // none of them arrived
	harmTear             // some arrived, some in part, in any order
	harmKeep             // all arrived
	harms
)

// inode is a file without its name.
type inode struct {
	synced  []byte
	pending []op
}

// cut is the disk after a power cut behind the first n operations: the content
// of the files, and how many records had been acknowledged.
func (tp *tape) cut(n int, h harm, rng *rand.Rand) (map[string][]byte, int64) {
	now, durable := map[string]*inode{}, map[string]*inode{}
	acked := int64(0)
	for _, o := range tp.ops[:n] {
		switch o.kind {
		case opMake:
			now[o.name] = &inode{}
		case opUnlink:
			delete(now, o.name)
		case opSyncDir:
			durable = maps.Clone(now)
		case opWrite, opTruncate:
			now[o.name].pending = append(now[o.name].pending, o)
		case opSync:
			now[o.name].sync(harmKeep, rng)
		case opAck:
			acked = o.off
		}
	}
	names := durable
	if h == harmKeep || h == harmTear && rng.IntN(2) == 0 {
		names = now
	}
	files := map[string][]byte{}
	for _, name := range []string{journalName, journalName + "-wal"} { // in order: a seed repeats
		if node := names[name]; node != nil {
			node.sync(h, rng)
			files[name] = node.synced
		}
	}
	return files, acked
}

// sync lets the pending writes arrive as h says.
func (i *inode) sync(h harm, rng *rand.Rand) {
	pending := i.pending
	i.pending = nil
	if h == harmTear {
		pending = append([]op(nil), pending...)
		rng.Shuffle(len(pending), func(a, b int) { pending[a], pending[b] = pending[b], pending[a] })
	}
	for _, o := range pending {
		switch {
		case h == harmDrop, h == harmTear && rng.IntN(3) == 0:
			continue
		case h == harmTear && o.kind == opWrite && rng.IntN(2) == 0:
			o.data = o.data[:rng.IntN(len(o.data)+1)]
		}
		i.arrive(o)
	}
}

func (i *inode) arrive(o op) {
	end := o.off + int64(len(o.data))
	for int64(len(i.synced)) < end || o.kind == opTruncate && int64(len(i.synced)) < o.off {
		i.synced = append(i.synced, 0)
	}
	if o.kind == opTruncate {
		i.synced = i.synced[:o.off]
		return
	}
	copy(i.synced[o.off:], o.data)
}

// put lays a disk image into an empty folder.
func put(t *testing.T, dir string, files map[string][]byte, acked int64) Folder {
	t.Helper()
	must(t, os.RemoveAll(dir))
	must(t, os.MkdirAll(dir, 0o700))
	for name, b := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	// The beat is written after the acknowledgement and may have arrived at once.
	line, ok := Beat{Seq: acked, Phase: "test"}.encode()
	if !ok {
		t.Fatal("a beat that is too long")
	}
	must(t, os.WriteFile(filepath.Join(dir, beatName), line, 0o600))
	return Folder(dir)
}
