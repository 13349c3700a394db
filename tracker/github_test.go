package tracker

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The status line decides; an answer that is not there, or came with a bad exit,
// may have been an act.
//
// promise: D4
func TestAnswersOfGH(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\neval \"$PLAY\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const ok = `printf 'HTTP/2.0 200 OK\nA: b\r\n\r\n{"number":7}'`
	for _, c := range []struct {
		name, script string
		want         TroubleKind
	}{
		{"well", ok, ""},
		{"well, then a bad exit", ok + "; exit 1", TroubleLost},
		{"no body", `printf 'HTTP/2.0 200 OK\n\n'`, TroubleLost},
		{"half a body", `printf 'HTTP/2.0 200 OK\n\n{"num'`, TroubleLost},
		{"no status", `echo '{"number":7}'`, TroubleLost},
		{"nothing", "", TroubleLost},
		{"no login", "exit 4", TroubleLogin},
		{"no connection", "echo error connecting >&2; exit 1", TroubleLost},
		{"hangs", "exec sleep 1000", TroubleLost},
		{"hangs after a status", `printf 'HTTP/2.0 200 OK\n\n{"number":7}'; exec sleep 1000`, TroubleLost},
		{"401", `printf 'HTTP/2.0 401 x\n\n{}'; exit 1`, TroubleLogin},
		{"403", `printf 'HTTP/2.0 403 x\n\n{}'; exit 1`, TroubleRefused},
		{"403, limit", `printf 'HTTP/2.0 403 x\nX-RateLimit-Remaining: 0\r\n\r\n{}'; exit 1`, TroubleLimit},
		{"403, later", `printf 'HTTP/1.1 403 x\nRetry-After: 60\r\n\r\n{}'; exit 1`, TroubleLimit},
		{"404", `printf 'HTTP/2.0 404 x\n\n{}'; exit 1`, TroubleRefused},
		{"410", `printf 'HTTP/2.0 410 x\n\n{}'; exit 1`, TroubleRefused},
		{"422", `printf 'HTTP/2.0 422 x\n\n{}'; exit 1`, TroubleRefused},
		{"429", `printf 'HTTP/2.0 429 x\n\n{}'; exit 1`, TroubleLimit},
		{"502", `printf 'HTTP/2.0 502 x\n\nno json'; exit 1`, TroubleLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			policy := DefaultPolicy()
			if c.want == TroubleLost {
				policy.Within = 2 * time.Second // also for those who answer at once on a busy machine
			}
			g := GitHub{Environ: []string{"PATH=" + dir + ":/usr/bin:/bin", "PLAY=" + c.script}, Repo: "o/r", Policy: policy}
			is, err := g.Do(t.Context(), Act{Kind: ActCreate, Title: "t", Text: "x"})
			if kindOf(err) != c.want || (err == nil) != (c.want == "") || err == nil && is.Number != 7 {
				t.Errorf("%+v, %v; want %q", is, err, c.want)
			}
		})
	}
	g := GitHub{Environ: []string{"PATH=" + t.TempDir()}, Repo: "o/r", Policy: DefaultPolicy()}
	if _, err := g.Find(t.Context(), Query{Mark: "x"}); kindOf(err) != TroubleAbsent {
		t.Errorf("without gh: %v", err)
	}
}

func TestCheckRepo(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"o/r", "O-1/r.x_y", "github.example.com/o/r", "o/.github"} {
		if err := CheckRepo(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "o", "o/", "/r", "a/b/c/d", "../x", "o/..", "-o/r", "o/r?x=1", "o/r x", "https://github.com/o/r", "o/r\n"} {
		if CheckRepo(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
