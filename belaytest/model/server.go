package model

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Caps of what is kept of requests: the first of them, the beginning of each.
const (
	maxRequests = 256
	maxBody     = 2 << 20
)

// Request is a request as it came.
type Request struct {
	Call   int // which call of the model it is, from 1; 0 = another request
	Method string
	Path   string
	Body   []byte // cut at 2 MiB
}

// Server plays a script. Close it.
type Server struct {
	script Script
	http   *httptest.Server
	over   chan struct{} // closed when the server ends
	once   sync.Once

	mu    sync.Mutex
	first time.Time // when the model was first called
	calls int
	parts map[int]int // calls, by part of the script
	seen  int
	log   []Request
	news  chan struct{} // closed and made anew at each call
}

// New starts a server on a free port of 127.0.0.1.
func New(script Script) (*Server, error) { return Listen(script, 0) }

// Listen starts a server on a port of 127.0.0.1.
func Listen(script Script, port int) (*Server, error) {
	if err := script.check(); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(context.Background(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("listen for model calls: %w", err)
	}
	s := &Server{script: script, over: make(chan struct{}), news: make(chan struct{}), parts: map[int]int{}}
	s.http = &httptest.Server{Listener: l, Config: &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}}
	s.http.Start()
	return s, nil
}

// URL is the address, without a path.
func (s *Server) URL() string { return s.http.URL }

// Close cuts every connection and waits for every handler.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.over)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Calls is how often the model was called; other requests do not count.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Requests are the first 256 requests of all kinds, and how many there were.
func (s *Server) Requests() (kept []Request, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...), s.seen
}

// Await waits until the model was called n times.
func (s *Server) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		calls, news := s.calls, s.news
		s.mu.Unlock()
		if calls >= n {
			return nil
		}
		select {
		case <-news:
		case <-s.over:
			return fmt.Errorf("await call %d of the model: the server was closed after %d", n, calls)
		case <-ctx.Done():
			return fmt.Errorf("await call %d of the model: %d came: %w", n, calls, ctx.Err())
		}
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
	if err != nil {
		return // the caller is gone
	}
	d := speak(r)
	n, script := s.note(r, body, d != nil)
	if d == nil {
		aside(w, r.URL.Path)
		return
	}
	a := d.read(r.URL.Path, body)
	a.dir = workDir(body)
	b := script.at(n)
	if s.down() {
		b = HTTP529
	}
	s.play(w, r, d, a, script.decide(b, a))
}

// down tells whether the outage of the script lasts.
func (s *Server) down() bool {
	if s.script.Down <= 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.IsZero() {
		s.first = time.Now()
	}
	return time.Since(s.first) < s.script.Down
}

// speak finds the API that a request is a call of; nil = none.
func speak(r *http.Request) dialect {
	p := r.URL.Path
	if r.Method != http.MethodPost {
		return nil
	}
	switch {
	case strings.HasSuffix(p, "/messages"):
		return anthropic{}
	case strings.HasSuffix(p, "/responses"):
		return responses{}
	case strings.HasSuffix(p, "/chat/completions"):
		return chat{}
	case strings.HasSuffix(p, "enerateContent"):
		return gemini{}
	}
	return nil
}

// workDir is where a CLI says that it works; "" = it does not. It stands in the
// text of a prompt, in words of the CLI's own.
func workDir(body []byte) string {
	for _, mark := range [][2]string{{"working directory: ", `\n`}, {"<cwd>", "</cwd>"}} {
		if _, rest, ok := bytes.Cut(body, []byte(mark[0])); ok {
			if dir, _, ok := bytes.Cut(rest, []byte(mark[1])); ok {
				return string(dir)
			}
		}
	}
	return ""
}

// note writes a request down and gives what is played for it, with the number of
// the call in that.
func (s *Server) note(r *http.Request, body []byte, call bool) (n int, script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := Request{Method: r.Method, Path: r.URL.Path, Body: body[:min(len(body), maxBody)]}
	if call {
		s.calls++
		q.Call = s.calls
		close(s.news)
		s.news = make(chan struct{})
	}
	s.seen++
	if len(s.log) < maxRequests {
		s.log = append(s.log, q)
	}
	part := s.script.part(body)
	if part < 0 {
		return s.calls, s.script
	}
	if call {
		s.parts[part]++
	}
	return s.parts[part], s.script.Parts[part].Script
}

// aside answers what is no call of a model: counting tokens, listing models,
// looking whether anybody is there.
func aside(w http.ResponseWriter, p string) {
	switch {
	case strings.HasSuffix(p, "/count_tokens"):
		writeJSON(w, http.StatusOK, object{"input_tokens": inputTokens})
	case strings.HasSuffix(p, ":countTokens"):
		writeJSON(w, http.StatusOK, object{"totalTokens": inputTokens})
	case strings.HasSuffix(p, "/models"):
		writeJSON(w, http.StatusOK, object{"object": "list", "data": []any{}, "models": []any{}})
	case p == "/":
		writeJSON(w, http.StatusOK, object{})
	default:
		writeJSON(w, http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "no such path"}})
	}
}

// play carries an act out.
func (s *Server) play(w http.ResponseWriter, r *http.Request, d dialect, a ask, act act) {
	if act.fault != "" {
		if after := act.fault.retryAfter(); after != "" {
			w.Header().Set("Retry-After", after)
		}
		status, body := d.fail(act.fault)
		writeJSON(w, status, body)
		return
	}
	if act.fate == silent {
		s.wait(r)
		return
	}
	if !a.stream && act.fate == arrives {
		writeJSON(w, http.StatusOK, d.whole(a, act.reply))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	s.stream(w, r, d, a, act)
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, d dialect, a ask, act act) {
	said := act.reply.text()
	out := d.begin(a)
	if act.reply.call != nil {
		out = append(out, d.ask(act.reply.call)...)
	}
	if said != "" {
		out = append(out, d.open()...)
		for _, words := range act.reply.words {
			out = append(out, d.say(words))
		}
	}
	if act.fate == arrives {
		if said != "" {
			out = append(out, d.shut(said)...)
		}
		out = append(out, d.end(a, act.reply)...)
	}
	if send(w, out...) != nil {
		return // the caller is gone
	}
	switch act.fate {
	case arrives, silent:
	case cut:
		sever(w)
	case stalls:
		s.wait(r)
	case goesOn:
		s.goOn(w, r, d)
	}
}

// wait holds a request until the caller or the server gives up. It does not
// return: an answer that nobody gave must not look like one that ended.
func (s *Server) wait(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.over:
	}
	panic(http.ErrAbortHandler) //nolint:forbidigo // how a handler breaks a connection off; the server catches it
}

// goOn talks until the caller or the server gives up. It never says the same
// twice: some CLIs end an answer that repeats itself.
func (s *Server) goOn(w http.ResponseWriter, r *http.Request, d dialect) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-r.Context().Done():
			return
		case <-s.over:
			return
		case <-tick.C:
			if send(w, d.say(fmt.Sprintf("and on to number %d, ", n))) != nil {
				return
			}
		}
	}
}

// sever breaks the connection under an answer: no end of the stream, a reset.
func sever(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the caller is gone
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the end would be a polite one
	}
	_ = conn.Close() // it is broken on purpose
}
