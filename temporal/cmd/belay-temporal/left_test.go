package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// left is what a play leaves: the files of its directory, and those of all branches of its
// repository, and of the one that it pushes to.
func (s *side) left() map[string]string {
	s.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(s.dir, path)
		if err != nil {
			return err
		}
		if d.Type() == fs.ModeSymlink {
			to, err := os.Readlink(path)
			all[name] = "to " + to
			return err
		}
		b, err := os.ReadFile(path)
		info, bad := d.Info()
		if bad == nil {
			all[name] = info.Mode().String() + " " + string(b)
		}
		return errors.Join(err, bad)
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.branches("branch", s.dir, all)
	s.branches("pushed", filepath.Join(filepath.Dir(s.dir), "origin.git"), all)
	return all
}

// branches adds the files that each branch of a repository has, if there is one.
func (s *side) branches(what, dir string, all map[string]string) {
	s.t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(s.t.Context(), "git", append([]string{"--git-dir", dir}, args...)...).Output()
		return string(out), err
	}
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		dir = filepath.Join(dir, ".git")
	}
	if _, err := os.Stat(filepath.Join(dir, "objects")); err != nil {
		return
	}
	names, err := git("for-each-ref", "--format=%(refname:short)", "refs/heads")
	for name := range strings.FieldsSeq(names) {
		all[what+" "+name] = ""
		files, bad := git("ls-tree", "-r", "--format=%(objectmode) %(objectname) %(path)", name)
		err = errors.Join(err, bad)
		for line := range strings.Lines(files) {
			f := strings.SplitN(strings.TrimSpace(line), " ", 3)
			text, bad := git("cat-file", "blob", f[1])
			err = errors.Join(err, bad)
			all[what+" "+name+": "+f[2]] = f[0] + " " + text
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// kill starts a command, and kills with SIGKILL what drives its run, once a file is
// there: the client of the local engine, after which another one goes on, or the worker.
func (s *side) kill(file, line, next, work string) {
	s.t.Helper()
	cmd := s.command(line, work)
	cmd.Stdout, cmd.Stderr = &s.said, &s.said
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(s.dir, file)); err == nil {
			break
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s: %s never made %s", s.engine, line, file)
		}
	}
	driver := cmd
	if s.engine != "local" {
		driver = s.worker
	}
	if err := driver.Process.Signal(syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	_ = driver.Wait() // it was killed
	if s.engine == "local" {
		s.do(next, work)
		return
	}
	s.work(filepath.Join(work, "host"))
	_ = cmd.Wait() // its code is looked at
	s.codes = append(s.codes, cmd.ProcessState.ExitCode())
}
