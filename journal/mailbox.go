package journal

import (
	"cmp"
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

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/exit"
)

// maxRequest is far more than a request ever needs; a bigger file is no request.
const maxRequest = 64 << 10

// BadRequest is a file in the mailbox that is no request; it was moved aside.
type BadRequest struct {
	Path string // where it lies now
	Why  error
}

// Put leaves a request for the driver of a run, living or to come. It needs no
// lock, is durable when it returns, and draws an id for a request without one.
func (s *State) Put(req event.Request) (event.Request, error) {
	f, err := s.find(req.Run)
	if err != nil {
		return req, err
	}
	if req.ID == "" {
		// Begins with the time, so that names sort as they came.
		req.ID = fmt.Sprintf("%013x-%s", time.Now().UnixMicro(), draw(5))
	}
	if !validRequestID(req.ID) {
		return req, exit.New(exit.Usage, "put request", fmt.Errorf("%q cannot be the id of a request", req.ID),
			"use 1 to 64 of a-z, 0-9, - and _, with a letter or digit first")
	}
	b, err := json.Marshal(req)
	if err != nil {
		return req, fmt.Errorf("put request: %w", err)
	}
	if len(b) > maxRequest {
		return req, exit.New(exit.Usage, "put request", errors.New("it is too long"), "shorten the reason")
	}
	return req, putFile(f.request(req.ID), b)
}

func validRequestID(id string) bool {
	return len(id) <= 64 && (validID(id) || len(id) > 40 && validID(id[:40]) && validID("x"+id[40:]))
}

func (f Folder) request(id string) string { return filepath.Join(f.in(inName), id+".json") }

// Inbox gives the requests that wait, in the order in which they came. What is
// no request is moved aside, so that it is looked at once, and reported.
func (f Folder) Inbox() ([]event.Request, []BadRequest, error) {
	entries, err := os.ReadDir(f.in(inName))
	if err != nil {
		return nil, nil, exit.New(exit.Infra, "read mailbox", err, "check the permissions of "+f.in(inName))
	}
	type letter struct {
		req  event.Request
		when time.Time
	}
	var mail []letter
	var bad []BadRequest
	for _, e := range entries {
		id, isRequest := strings.CutSuffix(e.Name(), ".json")
		if !isRequest || strings.HasPrefix(e.Name(), ".") {
			continue // being written, or the folder of bad ones
		}
		req, when, err := readRequest(f.in(inName), id)
		switch {
		case errors.Is(err, fs.ErrNotExist): // taken back meanwhile
		case err != nil:
			bad = append(bad, f.setAside(e.Name(), err))
		default:
			mail = append(mail, letter{req, when})
		}
	}
	slices.SortFunc(mail, func(a, b letter) int {
		return cmp.Or(a.when.Compare(b.when), cmp.Compare(a.req.ID, b.req.ID))
	})
	var reqs []event.Request
	for _, l := range mail {
		reqs = append(reqs, l.req)
	}
	return reqs, bad, nil
}

func readRequest(dir, id string) (req event.Request, when time.Time, err error) {
	// Without waiting for whoever has the other end of a pipe.
	file, err := os.OpenFile(filepath.Join(dir, id+".json"), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return req, when, err
	}
	defer file.Close() // opened for reading: nothing can be lost
	info, err := file.Stat()
	if err != nil {
		return req, when, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRequest {
		return req, when, errors.New("not a regular file of a request's size")
	}
	b, err := io.ReadAll(io.LimitReader(file, maxRequest))
	if err != nil {
		return req, when, err
	}
	if err := json.Unmarshal(b, &req); err != nil {
		return req, when, err
	}
	if req.ID != id || !validRequestID(id) {
		return req, when, fmt.Errorf("it calls itself %q", req.ID)
	}
	return req, info.ModTime(), nil
}

func (f Folder) setAside(name string, why error) BadRequest {
	aside := filepath.Join(f.in(inName), badName)
	to := filepath.Join(aside, name)
	err := os.Mkdir(aside, dirMode)
	if err == nil || errors.Is(err, fs.ErrExist) {
		err = os.Rename(filepath.Join(f.in(inName), name), to)
	}
	if err != nil {
		return BadRequest{Path: filepath.Join(f.in(inName), name), Why: errors.Join(why, err)}
	}
	return BadRequest{Path: to, Why: why}
}

// Remove takes requests out of the mailbox, after they have become records.
func (f Folder) Remove(ids ...string) error {
	for _, id := range ids {
		if !validRequestID(id) {
			return fmt.Errorf("remove request: %q is no id", id)
		}
		if err := os.Remove(f.request(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unwritten("remove request", f.request(id), err)
		}
	}
	return nil
}
