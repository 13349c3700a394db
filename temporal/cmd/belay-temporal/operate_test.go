package main

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/exit"
)

// held is a recipe whose first step goes on until somebody makes a file.
const held = "name: held\nsteps:\n" +
	"- {id: a, once: true, command: 'echo x >> starts; while [ ! -f go ]; do sleep 0.02; done; touch last'}\n" +
	"- {id: b, command: 'test -f last; echo x >> second'}\n"

// TestWorkerDrains: a worker that is told to end waits for what runs, if it was told to
// wait, takes nothing new, and hands over what runs longer. The step runs once.
//
// promise: K1, K4
func TestWorkerDrains(t *testing.T) {
	addr := address(t)
	for _, c := range []struct {
		name   string
		drain  []string
		during func(s *site, w *crew) // after SIGTERM, before the next worker
		found  string
	}{
		{"waits", []string{"--drain", "1m"}, func(s *site, w *crew) {
			s.comes("the end of its health", func() bool { return health(t, w) == http.StatusServiceUnavailable })
			if !w.working() || s.has("last") {
				t.Error("it did not wait for the step")
			}
			s.touch("go")
			w.leaves(30 * time.Second)
			if !s.has("last") {
				t.Error("it ended before the step")
			}
		}, ""},
		{"hands over at once", nil, func(_ *site, w *crew) { w.leaves(30 * time.Second) }, "adopted"},
		{"waits, and hands over then", []string{"--drain", "2s"}, func(s *site, w *crew) {
			began := time.Now()
			w.leaves(30 * time.Second)
			if took := time.Since(began); took < 2*time.Second {
				t.Errorf("it waited for %s only", took)
			}
			if s.has("last") {
				t.Error("the step ended")
			}
		}, "adopted"},
		{"hands over what ends before the next one comes", nil, func(s *site, w *crew) {
			w.leaves(30 * time.Second)
			s.touch("go")
			s.comes("the end of the step", func() bool { return s.has("last") })
		}, "harvested"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, addr, held)
			w := s.worker(append(c.drain, "--listen", "127.0.0.1:0"))
			end := s.begin("run", "recipe.yaml", "--id", "d1"+s.host)
			s.comes("the step", func() bool { return s.has("starts") })
			w.signal(syscall.SIGTERM)
			c.during(s, w)
			if s.has("second") {
				t.Error("a worker that was told to end began another step")
			}
			s.worker(nil)
			if c.found == "adopted" {
				s.comes("its new worker", func() bool { return len(found(s.records("d1"+s.host))) > 0 })
			}
			s.touch("go")
			again := time.Now()
			code, out := end()
			if code != 0 {
				t.Fatalf("the run ended with %d: %s", code, out)
			}
			if n := strings.Count(out, "adopted "); n > 1 || strings.Contains(out, "unborn") || strings.Contains(out, "never began") {
				t.Errorf("what is told of the change of the worker: %s", out)
			}
			if took := time.Since(again); took > time.Minute {
				t.Errorf("it went on only after %s", took)
			}
			if a, b := s.lines("starts"), s.lines("second"); a != 1 || b != 1 {
				t.Errorf("the steps ran %d and %d times", a, b)
			}
			got := slices.DeleteFunc(found(s.records("d1"+s.host)), func(how string) bool { return how == "unborn" }) // the second step, which nobody was there to begin
			want := []string{}
			if c.found != "" {
				want = append(want, c.found) // once: the worker that leaves does not take it again
			}
			if !slices.Equal(got, want) {
				t.Errorf("the attempt was found %q, want %q", got, want)
			}
		})
	}
}

var listens = regexp.MustCompile(`http://(\S+)/healthz`)

// get asks a worker for a page; 0 = it does not listen.
func get(t *testing.T, w *crew, page string) (int, string) {
	t.Helper()
	at := listens.FindStringSubmatch(w.said.String())
	if at == nil {
		return 0, ""
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+at[1]+page, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "" // not yet, or not any more
	}
	defer func() { _ = resp.Body.Close() }() // only read
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, ""
	}
	return resp.StatusCode, string(b)
}

func health(t *testing.T, w *crew) int {
	t.Helper()
	code, _ := get(t, w, "/healthz")
	return code
}

// TestWorkerIsWatched: /healthz tells whether a worker takes work, and /metrics counts
// what it does, in the form that Prometheus reads.
//
// promise: X
func TestWorkerIsWatched(t *testing.T) {
	t.Parallel()
	s := newSite(t, address(t), held)
	w := s.worker([]string{"--listen", "127.0.0.1:0", "--slots", "3"})
	s.comes("its health", func() bool { return health(t, w) == http.StatusOK })
	value := func(name string) string {
		_, text := get(t, w, "/metrics")
		for line := range strings.Lines(text) {
			if n, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && (n == name || strings.HasPrefix(n, name+"{")) {
				return v
			}
		}
		return ""
	}
	end := s.begin("run", "recipe.yaml", "--id", "m1"+s.host)
	s.comes("the step", func() bool { return s.has("starts") })
	s.comes("the attempt", func() bool { return value("belay_attempts") == "1" })
	if v := value("belay_slots"); v != "3" {
		t.Errorf("belay_slots is %q, want 3", v)
	}
	s.touch("go")
	if code, out := end(); code != 0 {
		t.Errorf("the run ended with %d: %s", code, out)
	}
	s.comes("no attempt", func() bool { return value("belay_attempts") == "0" })
	if v := value("temporal_request_total"); v == "" || v == "0" {
		t.Errorf("the requests of the SDK are %q", v)
	}
	_, text := get(t, w, "/metrics")
	if err := exposition(text); err != nil {
		t.Errorf("what Prometheus would read: %v\n%s", err, text)
	}
	w.signal(syscall.SIGTERM)
	w.leaves(30 * time.Second)
	if code := health(t, w); code != 0 {
		t.Errorf("a worker that has ended answers %d", code)
	}
}

// TestWorkerWithoutItsServer: a worker that does not reach the server is not healthy after a
// short time, and says why; when the server is there again, it is.
//
// promise: X
func TestWorkerWithoutItsServer(t *testing.T) {
	t.Parallel()
	way := newWay(t, address(t))
	s := newSite(t, way.at, held)
	w := s.worker([]string{"--listen", "127.0.0.1:0"})
	s.comes("its health", func() bool { return health(t, w) == http.StatusOK })
	way.block(true)
	cut := time.Now()
	var said string
	s.comes("the end of its health", func() bool {
		code := 0
		code, said = get(t, w, "/healthz")
		return code == http.StatusServiceUnavailable
	})
	if took := time.Since(cut); took < 10*time.Second || took > 25*time.Second || !strings.Contains(said, "the server has not answered for ") {
		t.Errorf("after %s it says %q", took, said)
	}
	way.block(false)
	s.comes("its health again", func() bool { return health(t, w) == http.StatusOK })
}

// TestClientEndsWithoutAWorker: who follows a run and is told to end does so in a while, also
// when nobody is there who could take it in that the run shall stop; and says so.
//
// promise: X
func TestClientEndsWithoutAWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t, address(t), held)
	w := s.worker(nil)
	client, said, ended := exec.Command("belay-temporal", "run", "recipe.yaml", "--id", "e1"+s.host), &heard{}, make(chan struct{})
	client.Dir, client.Env, client.Stdout, client.Stderr = s.dir, s.env, said, said
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // it ends with the process
		defer close(ended)
		_ = client.Wait() // its code says it
	}()
	s.comes("the step", func() bool { return s.has("starts") })
	w.signal(syscall.SIGKILL)
	<-w.ended
	if err := client.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		if code := client.ProcessState.ExitCode(); code != int(exit.Infra) || !strings.Contains(said.String(), "ask stop") {
			t.Errorf("it ended with %d: %s", code, said)
		}
	case <-time.After(time.Minute):
		_ = client.Process.Kill() // the test has its answer
		<-ended
		t.Errorf("it did not end: %s", said)
	}
}

// The parts of the text form of Prometheus, version 0.0.4.
var (
	comment = regexp.MustCompile(`^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	sample  = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	label   = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)`)
)

// exposition reads a page as strictly as Prometheus does, and more: each label once in a
// line, each series once, and the lines of a family together, below its only type.
func exposition(page string) error {
	seen, closed := map[string]bool{}, map[string]bool{}
	var family, kind string
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if c := comment.FindStringSubmatch(line); c != nil {
			if c[2] != family {
				closed[family], family, kind = true, c[2], ""
			}
			switch {
			case closed[family]:
				return fmt.Errorf("%q: the family was there before", line)
			case kind != "":
				return fmt.Errorf("%q stands behind the type", line)
			case c[1] == "TYPE" && c[3] != "counter" && c[3] != "gauge" && c[3] != "summary":
				return fmt.Errorf("%q: no type that is used", line)
			case c[1] == "TYPE":
				kind = c[3]
			}
			continue
		}
		s := sample.FindStringSubmatch(line)
		if s == nil {
			return fmt.Errorf("%q is no line of the form", line)
		}
		if _, err := strconv.ParseFloat(s[3], 64); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		ends := []string{""}
		if kind == "summary" {
			ends = []string{"_sum", "_count"}
		}
		if end, of := strings.CutPrefix(s[1], family); kind == "" || !of || !slices.Contains(ends, end) {
			return fmt.Errorf("%q is not of the family %s, a %s", line, family, kind)
		}
		labels := map[string]string{}
		for rest := s[2]; rest != ""; {
			l := label.FindStringSubmatch(rest)
			if l == nil {
				return fmt.Errorf("%q: no label at %q", line, rest)
			}
			if _, twice := labels[l[1]]; twice {
				return fmt.Errorf("%q: the label %s is there twice", line, l[1])
			}
			labels[l[1]], rest = l[2], rest[len(l[0]):]
		}
		series := fmt.Sprint(s[1], labels) // maps print in order
		if seen[series] {
			return fmt.Errorf("%q: the series is there twice", line)
		}
		seen[series] = true
	}
	return nil
}

// TestWorkerHasSlots: a worker makes no more attempts at the same time than it has
// slots, and control has others: a cancel does not wait for a slot.
//
// promise: X
func TestWorkerHasSlots(t *testing.T) {
	t.Parallel()
	recipe := "name: slots\nsteps:\n"
	for _, id := range []string{"a", "b", "c", "d"} {
		recipe += "- {id: " + id + ", needs: [], command: 'echo x >> began; sleep 300'}\n"
	}
	s := newSite(t, address(t), recipe)
	w := s.worker([]string{"--listen", "127.0.0.1:0", "--slots", "2"})
	end := s.begin("run", "recipe.yaml", "--id", "s1"+s.host)
	s.comes("two attempts", func() bool { return s.lines("began") == 2 })
	s.comes("four on record", func() bool {
		n := 0
		for _, r := range s.records("s1" + s.host) {
			if r.Event.Kind() == "attempt.started" {
				n++
			}
		}
		return n == 4
	})
	if _, text := get(t, w, "/metrics"); !strings.Contains(text, "\nbelay_attempts 2\n") {
		t.Error("it is not two attempts that it makes")
	}
	s.must("cancel", "s1"+s.host)
	if code, out := end(); code != int(exit.Aborted) {
		t.Errorf("the run ended with %d: %s", code, out)
	}
	if n := s.lines("began"); n != 2 {
		t.Errorf("%d steps began, want 2", n)
	}
}
