package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
	"github.com/belay-run/belay/belaytest/model"
	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/temporal/shown"
)

// pausing is a model service that holds back what follows a tool, until it is let go.
type pausing struct {
	front *httptest.Server
	model *model.Server
	let   chan struct{}
	holds atomic.Int64
}

func newPausing(t *testing.T, file string) *pausing {
	t.Helper()
	m, err := model.New(model.Script{Steps: []model.Behaviour{model.Tool, model.Text}, File: file, Content: "written by a real agent\n"})
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(m.URL())
	if err != nil {
		t.Fatal(err)
	}
	p := &pausing{model: m, let: make(chan struct{})}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, FlushInterval: -1}
	p.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the caller is gone
		}
		if bytes.Contains(body, []byte(`"tool_result"`)) || bytes.Contains(body, []byte(`_call_output"`)) {
			p.holds.Add(1)
			select {
			case <-p.let:
			case <-r.Context().Done():
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		p.front.CloseClientConnections()
		p.front.Close()
		m.Close()
	})
	return p
}

// hire puts a real agent CLI into the settings of a site, with the service as its own.
// Everywhere else it is sent to a proxy that is not there.
func (s *site) hire(kind agent.Kind, service string) {
	s.t.Helper()
	installed := os.Getenv("BELAY_TEMPORAL_AGENTS")
	if installed == "" {
		shown.Not(s.t, "no agent CLIs: run scripts/install-agents.sh and name e2e/agents/node_modules with BELAY_TEMPORAL_AGENTS, or run make test-temporal")
	}
	programs := map[agent.Kind]string{
		agent.Claude: "@anthropic-ai/claude-code-linux-x64/claude",
		agent.Codex:  "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
	}
	program := filepath.Join(installed, filepath.FromSlash(programs[kind]))
	put(s.t, filepath.Join(s.dir, "settings.yaml"), "agents:\n  "+string(kind)+": {kind: "+string(kind)+", program: ["+strconv.Quote(program)+"], access: edit}\n")
	put(s.t, filepath.Join(s.dir, ".codex", "config.toml"), "model = \"mock-model\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n"+
		"[model_providers.scripted]\nname = \"scripted\"\nbase_url = \""+service+"/v1\"\nenv_key = \"SCRIPTED_API_KEY\"\nwire_api = \"responses\"\n"+
		"[features]\nplugins = false\n[analytics]\nenabled = false\n[feedback]\nenabled = false\n[otel]\nexporter = \"none\"\n")
	s.env = append(s.env, "ANTHROPIC_BASE_URL="+service, "ANTHROPIC_API_KEY=dummy", "CODEX_HOME="+filepath.Join(s.dir, ".codex"),
		"SCRIPTED_API_KEY=dummy", "DO_NOT_TRACK=1", "HTTPS_PROXY=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost")
}

// killKeeper kills the keeper of a run with SIGKILL, and with it all that it holds.
func (s *site) killKeeper(id string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, "host", "runs", id, "keeper.log"))
	if err != nil {
		s.t.Fatal(err)
	}
	pid := 0
	for line := range bytes.Lines(b) {
		var l struct{ Keeper *struct{ Pid int } }
		if json.Unmarshal(line, &l) == nil && l.Keeper != nil {
			pid = l.Keeper.Pid
		}
	}
	if pid <= 1 {
		s.t.Fatal("the keeper's log names no keeper")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
}

// TestRealAgentSurvivesItsWorker kills the worker with SIGKILL while a real agent CLI
// is at work: the agent goes on and is adopted. When all that the machine ran is killed,
// keeper and agent too, the session of the agent is resumed. What was done is not done
// again, and a step that must run once ran once.
//
// promise: K1, K4
func TestRealAgentSurvivesItsWorker(t *testing.T) {
	addr := address(t)
	for _, kind := range []agent.Kind{agent.Claude, agent.Codex} {
		for _, all := range []bool{false, true} {
			name := string(kind) + ", and only the worker dies"
			if all {
				name = string(kind) + ", and all on the machine dies"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				realAgent(t, addr, kind, all)
			})
		}
	}
}

func realAgent(t *testing.T, addr string, kind agent.Kind, all bool) {
	t.Helper()
	s := newSite(t, addr, "name: n\nsteps:\n- {id: z, command: 'echo x >> before'}\n- {id: o, once: true, command: 'echo x >> once'}\n"+
		"- {id: a, agent: "+string(kind)+", prompt: 'Write the file out.txt, then say what you did.', role: coder, expect: change, output: said, timeout: 3m}\n"+
		"- {id: b, command: 'test -f out.txt; echo x >> after'}\n")
	work := filepath.Join(s.dir, "work")
	put(t, filepath.Join(work, "README.md"), "A place to work.\n")
	put(t, filepath.Join(s.dir, ".gitconfig"), "[user]\n\tname = a\n\temail = a@example.org\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "first"}} {
		git(t, work, s.dir, args...)
	}
	p := newPausing(t, filepath.Join(work, "out.txt"))
	s.hire(kind, p.front.URL)
	w := s.worker(nil)
	id := "a1" + s.host
	end := s.begin("run", "recipe.yaml", "-C", "work", "--id", id)
	s.comes("a tool of the agent", func() bool { return p.holds.Load() > 0 })
	s.comes("its session", func() bool { return len(sessions(s.records(id))) > 0 })
	killed := time.Now()
	w.signal(syscall.SIGKILL)
	<-w.ended
	if all {
		s.killKeeper(id)
	}
	s.worker(nil)
	s.comes("going on", func() bool {
		if all {
			return p.holds.Load() > 1
		}
		return len(found(s.records(id))) > 0
	})
	took := time.Since(killed)
	close(p.let)
	if code, out := end(); code != 0 {
		t.Fatalf("the run ended with %d: %s", code, out)
	}
	recs := s.records(id)
	starts, resumed := 0, 0
	for _, r := range recs {
		if e, ok := r.Event.(event.AttemptStarted); ok && e.Path == "a" && e.Role == belay.RoleMain {
			starts++
			if e.Resume {
				resumed++
			}
		}
	}
	how, want, more := found(recs), []string{"adopted"}, 0
	if all {
		want, more = []string{"lost"}, 1
	}
	ids := slices.Compact(sessions(recs))
	shown.Figure(t, "%s: from the kill to going on %s; found %q, %d starts of the agent, %d of them resume its session", kind, took.Round(time.Millisecond), how, starts, resumed)
	if !slices.Equal(how, want) || starts != 1+more || resumed != more || len(ids) != 1 {
		t.Errorf("found %q, %d starts, %d resumed, sessions %q", how, starts, resumed, ids)
	}
	for _, file := range []string{"before", "once", "after"} {
		if n := (&site{t: t, dir: work}).lines(file); n != 1 {
			t.Errorf("%s: its step ran %d times", file, n)
		}
	}
}

// sessions are the sessions that agents had, in order.
func sessions(recs []event.Record) (ids []string) {
	for _, r := range recs {
		if e, ok := r.Event.(event.AttemptNoted); ok && e.What == "session" {
			ids = append(ids, e.Text)
		}
	}
	return ids
}
