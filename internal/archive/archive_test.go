package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// packed is an archive of two files, and the files.
func packed(t *testing.T) ([]byte, []File) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a"), []byte("alpha"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "b"), bytes.Repeat([]byte("b"), 200_000), 0o600))
	files := []File{
		{Name: "journal.db", Path: filepath.Join(dir, "a"), Size: 5},
		{Name: "logs/r1=a.1.log", Path: filepath.Join(dir, "b"), Size: 200_000, Time: time.Unix(1_700_000_000, 0)},
	}
	var b bytes.Buffer
	_, err := Write(&b, Manifest{Run: "r1", Recipe: "demo"}, files)
	must(t, err)
	return b.Bytes(), files
}

func TestThereAndBack(t *testing.T) {
	t.Parallel()
	text, files := packed(t)
	m, err := ReadManifest(bytes.NewReader(text))
	must(t, err)
	if m.Run != "r1" || m.Format != Format || m.Files != 2 || m.Bytes != 200_005 {
		t.Errorf("manifest: %+v", m)
	}
	must(t, Same(bytes.NewReader(text), files))
	to := t.TempDir()
	_, err = Extract(bytes.NewReader(text), to, Limits{MaxFiles, MaxBytes}, nil)
	must(t, err)
	got, err := os.ReadFile(filepath.Join(to, "logs", "r1=a.1.log"))
	must(t, err)
	if len(got) != 200_000 {
		t.Errorf("%d bytes came back", len(got))
	}
	must(t, os.WriteFile(files[1].Path, bytes.Repeat([]byte("c"), 200_000), 0o600))
	var refused *Refused
	if err := Same(bytes.NewReader(text), files); !errors.As(err, &refused) {
		t.Errorf("a file that changed is the same: %v", err)
	}
	if err := Same(bytes.NewReader(text), files[:1]); err == nil {
		t.Error("a file too many is the same")
	}
}

// entry is an entry of an archive that nobody but an attacker writes.
type entry struct {
	name string
	kind byte
	link string
	body string
}

func built(t *testing.T, m any, list ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	head, err := json.Marshal(m)
	must(t, err)
	list = append([]entry{{name: manifestName, kind: tar.TypeReg, body: string(head)}}, list...)
	for _, e := range list {
		must(t, w.WriteHeader(&tar.Header{Name: e.name, Typeflag: e.kind, Linkname: e.link, Size: int64(len(e.body)), Mode: 0o777}))
		_, err := w.Write([]byte(e.body))
		must(t, err)
	}
	must(t, errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}

func TestHostile(t *testing.T) {
	t.Parallel()
	good, _ := packed(t)
	says := func(files int, bytes int64) Manifest {
		return Manifest{Format: Format, Run: "r1", Files: files, Bytes: bytes}
	}
	file := func(name string) entry { return entry{name: name, kind: tar.TypeReg, body: "x"} }
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"up", built(t, says(1, 1), file("../evil")), "leads elsewhere"},
		{"up in the middle", built(t, says(1, 1), file("logs/../../evil")), "leads elsewhere"},
		{"absolute", built(t, says(1, 1), file("/tmp/evil")), "leads elsewhere"},
		{"backslash", built(t, says(1, 1), file(`..\evil`)), "leads elsewhere"},
		{"empty part", built(t, says(1, 1), file("logs//evil")), "leads elsewhere"},
		{"deep", built(t, says(1, 1), file(strings.Repeat("d/", 9)+"f")), "too long"},
		{"long", built(t, says(1, 1), file(strings.Repeat("n", 256))), "too long"},
		{"link", built(t, says(1, 0), entry{name: "logs/l", kind: tar.TypeSymlink, link: "/etc/passwd"}), "no regular file"},
		{"hard link", built(t, says(1, 0), entry{name: "l", kind: tar.TypeLink, link: "/etc/passwd"}), "no regular file"},
		{"device", built(t, says(1, 0), entry{name: "d", kind: tar.TypeChar}), "no regular file"},
		{"folder", built(t, says(1, 0), entry{name: "logs/", kind: tar.TypeDir}), "no regular file"},
		{"log of the database", built(t, says(1, 1), file("journal.db-wal")), "no run has"},
		{"lock", built(t, says(1, 1), file("lock")), "no run has"},
		{"worktree", built(t, says(1, 1), file("trees/a/.git")), "no run has"},
		{"home of an agent", built(t, says(1, 1), file("logs/r1=a.1.agent/home/.netrc")), "no run has"},
		{"twice", built(t, says(2, 2), file("a"), file("a")), "twice"},
		{"manifest twice", built(t, says(1, 1), file(manifestName)), "no run has"},
		{"more files", built(t, says(1, 1), file("a"), file("b")), "more than it says"},
		{"fewer files", built(t, says(2, 1), file("a")), "less than it says"},
		{"more bytes", built(t, says(1, 0), file("a")), "more than it says"},
		{"huge by its word", built(t, says(1, 1<<40), file("a")), "at most"},
		{"many by its word", built(t, says(1<<30, 1), file("a")), "at most"},
		{"bomb", built(t, says(1, 1), entry{name: "a", kind: tar.TypeReg, body: strings.Repeat("\x00", 8<<20)}), "more than it says"},
		{"newer format", built(t, map[string]any{"format": 2, "run": 7}), "format 2"},
		{"no format", built(t, map[string]any{"run": "r1"}), "cannot be read"},
		{"other tar", func() []byte {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			w := tar.NewWriter(z)
			must(t, w.WriteHeader(&tar.Header{Name: "README", Typeflag: tar.TypeReg, Mode: 0o600}))
			must(t, errors.Join(w.Close(), z.Close()))
			return b.Bytes()
		}(), "no archive of a run"},
		{"no archive", []byte("hello, this is text"), "no archive of a run"},
		{"nothing", nil, "cut off"},
		{"something behind", append(bytes.Clone(good), "more"...), "behind its end"},
		{"two in one", append(bytes.Clone(good), good...), "behind its end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			outer := t.TempDir()
			to := filepath.Join(outer, "to")
			must(t, os.Mkdir(to, 0o700))
			_, err := Extract(bytes.NewReader(c.text), to, Limits{MaxFiles, MaxBytes}, nil)
			var refused *Refused
			if !errors.As(err, &refused) || !strings.Contains(refused.Why, c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			left, err := os.ReadDir(outer)
			must(t, err)
			if len(left) != 1 {
				t.Errorf("it made something beside: %v", left)
			}
		})
	}
}

// An archive that is cut off anywhere, or has a bit that is not as it was, is
// refused: it never ends in half a run.
func TestCutAndFlipped(t *testing.T) {
	t.Parallel()
	good, _ := packed(t)
	for n := range good {
		if _, err := Extract(bytes.NewReader(good[:n]), t.TempDir(), Limits{MaxFiles, MaxBytes}, nil); err == nil {
			t.Fatalf("cut off after %d of %d bytes, and taken", n, len(good))
		}
		if n < 10 {
			continue // the name and time of a gzip file mean nothing
		}
		bad := bytes.Clone(good)
		bad[n] ^= 0x10
		if _, err := Extract(bytes.NewReader(bad), t.TempDir(), Limits{MaxFiles, MaxBytes}, nil); err == nil && !bytes.Equal(unzipped(t, bad), unzipped(t, good)) {
			t.Fatalf("byte %d of %d is another, and it is taken", n, len(good))
		}
	}
}

// unzipped is what an archive holds: another way to pack the same is no damage.
func unzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(text))
	must(t, err)
	b, err := io.ReadAll(z)
	must(t, err)
	return b
}

func TestKept(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"journal.db": true, "logs/r=a.1.log": true, "logs/r=a.1.agent/report.json": true, ".plan.json": true, "in/x": true,
		"lock": false, "keeper.lock": false, "journal.db-shm": false, "trees": false, "trees/x/y": false,
		"logs/r=a.1.agent/home": false, "logs/r=a.1.agent/home/x/y": false, "home/x": true,
	} {
		if Kept(name) != want {
			t.Errorf("Kept(%q) is %v", name, !want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	dir := f.TempDir()
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, []byte("alpha"), 0o600); err != nil {
		f.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := Write(&b, Manifest{Run: "r1"}, []File{{Name: "journal.db", Path: file, Size: 5}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		outer := t.TempDir()
		to := filepath.Join(outer, "to")
		must(t, os.Mkdir(to, 0o700))
		_, _ = Extract(bytes.NewReader(text), to, Limits{100, 1 << 16}, nil) // it must not write elsewhere, or crash
		if left, err := os.ReadDir(outer); err != nil || len(left) != 1 {
			t.Errorf("it made something beside: %v %v", left, err)
		}
	})
}
