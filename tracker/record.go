package tracker

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/ondisk"
	"github.com/belay-run/belay/internal/pattern"
)

// Status is the closed list of how an issue stands on this machine.
type Status string

const (
	Kept   Status = "kept"   // it is in a file here, and not in the tracker
	Unsure Status = "unsure" // it may be in the tracker: an answer was lost
	Filed  Status = "filed"  // it is in the tracker
)

// Intent is an act that was begun; it is on disk before the act.
type Intent struct {
	Act    ActKind   `json:"act"`
	Number int       `json:"number,omitempty"`
	At     time.Time `json:"at"`
	Lost   time.Time `json:"lost,omitzero"` // when it was given up, if we lived to see that
}

// settled is when "it is not there" can be believed of what was begun.
func (i Intent) settled(p Policy) time.Time {
	if i.Lost.IsZero() {
		return i.At.Add(p.Within + p.Settle)
	}
	return i.Lost.Add(p.Settle)
}

// Record is what this machine knows of one issue. Its texts have no secrets.
type Record struct {
	Fingerprint string    `json:"fingerprint"`
	Repo        string    `json:"repo,omitempty"` // where it goes; "" = nobody said yet
	Status      Status    `json:"status"`
	Filing      string    `json:"filing"` // drawn once: tells what was made from this record
	Title       string    `json:"title"`
	Body        string    `json:"body"`
	Labels      []string  `json:"labels,omitempty"`
	First       time.Time `json:"first"` // seen
	Seen        time.Time `json:"seen"`  // the last time
	Times       int       `json:"times"`
	Intent      *Intent   `json:"intent,omitempty"` // begun, and no answer is known
	Number      int       `json:"number,omitempty"`
	URL         string    `json:"url,omitempty"`
	Commented   time.Time `json:"commented,omitzero"` // or begun to
	Why         string    `json:"why,omitempty"`      // it is not in the tracker
	File        string    `json:"file,omitempty"`     // for people, while it is not in the tracker
}

const (
	dirName   = "issues"
	homeless  = "local" // the folder of what has no repository yet
	maxRecord = 4 << 20
	maxList   = 100_000 // records that are looked at
)

var repoForm = pattern.Lazy(`^(?:[A-Za-z0-9][A-Za-z0-9.:-]*/)?[A-Za-z0-9][A-Za-z0-9_.-]*/[A-Za-z0-9_.][A-Za-z0-9_.-]*$`)

var dots = pattern.Lazy(`(^|/)\.{1,2}(/|$)`)

// CheckRepo refuses what is not [HOST/]OWNER/NAME.
func CheckRepo(repo string) error {
	if !repoForm().MatchString(repo) || dots().MatchString(repo) {
		return fmt.Errorf("%q is no repository: write OWNER/NAME, or HOST/OWNER/NAME", repo)
	}
	return nil
}

// shelf is the folder of a repository.
func shelf(state, repo string) string {
	if repo == "" {
		return filepath.Join(state, dirName, homeless)
	}
	return filepath.Join(state, dirName, strings.ReplaceAll(strings.ToLower(repo), "/", "="))
}

func recordPath(state, repo, mark string) string {
	return filepath.Join(shelf(state, repo), mark+".json")
}

// makeShelf makes the folder of a repository, durable when it returns.
func makeShelf(state, repo string) error {
	dir := shelf(state, repo)
	if _, err := os.Lstat(dir); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return unwritten(dir, err)
	}
	for _, d := range []string{filepath.Dir(dir), state} {
		if err := ondisk.Names(d); err != nil {
			return unwritten(d, err)
		}
	}
	return nil
}

// load reads a record; the zero one when there is none.
func load(path string) (Record, error) {
	var r Record
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return r, unread(path, err)
	}
	defer func() { _ = f.Close() }() // read only: nothing to lose
	b, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err == nil && r.Fingerprint+".json" != filepath.Base(path) {
		err = fmt.Errorf("it is the record of %q", r.Fingerprint)
	}
	if err != nil {
		return r, unread(path, err)
	}
	return r, nil
}

// save writes a record down, durable when it returns. A reader sees the old one
// or the new one.
func (r Record) save(state string) error {
	path := recordPath(state, r.Repo, r.Fingerprint)
	if err := makeShelf(state, r.Repo); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = put(path, append(b, '\n'))
	}
	if err != nil {
		return unwritten(path, err)
	}
	return nil
}

// leaflet writes the file for people that stands in for an issue.
func (r Record) leaflet(state, command string) (string, error) {
	path := strings.TrimSuffix(recordPath(state, r.Repo, r.Fingerprint), ".json") + ".md"
	text := fmt.Sprintf("# %s\n\n%s\n---\n\nThis issue is not in a tracker: %s.\nTo file it: %s\n", r.Title, marked(r.Body, r.Fingerprint, r.Filing), r.Why, command)
	if err := put(path, []byte(text)); err != nil {
		return "", unwritten(path, err)
	}
	return path, nil
}

// put writes a file whole or not at all. Who writes has the claim, so what a kill
// left half written is written over the next time.
func put(path string, b []byte) error {
	dir := filepath.Dir(path)
	tmp, err := os.OpenFile(filepath.Join(dir, "."+filepath.Base(path)+".new"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = tmp.Write(b)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // a leftover harms nobody
		return err
	}
	return ondisk.Names(dir)
}

// Records are all that this machine knows, the oldest first, and what is wrong
// with those that cannot be read.
func Records(state string) (list []Record, bad []error, err error) {
	files, err := filepath.Glob(filepath.Join(state, dirName, "*", "*.json"))
	if err != nil {
		return nil, nil, unread(state, err)
	}
	for _, path := range files[:min(len(files), maxList)] {
		r, err := load(path)
		switch {
		case err != nil:
			bad = append(bad, err)
		case r.Fingerprint != "": // else it went meanwhile
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Record) int {
		if c := a.First.Compare(b.First); c != 0 {
			return c
		}
		return strings.Compare(a.Repo+"/"+a.Fingerprint, b.Repo+"/"+b.Fingerprint)
	})
	return list, bad, nil
}

func drawFiling() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return hex.EncodeToString(b)
}

func unwritten(path string, err error) error {
	return exit.New(exit.Infra, "keep issue", fmt.Errorf("write %s: %w", path, err), "check the disk and the permissions of the state directory")
}

func unread(path string, err error) error {
	return exit.New(exit.Infra, "read issue", fmt.Errorf("%s: %w", path, err), "look at the file, or move it away: the tracker is looked at before anything is filed")
}
