package temporal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// Metrics are the counters of a worker: those of the SDK, and its own. They are
// given in the text form that Prometheus reads.
type Metrics struct {
	tags map[string]string
	all  *table
}

// table has the families of values by their names.
type table struct {
	mu       sync.Mutex
	families map[string]*family
	ready    bool
	heard    time.Time // when the server last answered
	trouble  error     // why it does not
}

// family has the values of one name: by what is behind the name, which is the end of a
// sum or a count, and the tags.
type family struct {
	kind   string
	values map[string]float64
}

// The kinds of families that Prometheus knows, of those that are needed here.
const (
	kindCounter = "counter"
	kindGauge   = "gauge"
	kindSummary = "summary"
)

// helps say what the worker's own families are.
var helps = map[string]string{
	"belay_slots":              "Attempts that the worker makes at the same time at most.",
	"belay_attempts":           "Attempts that the worker makes now.",
	"belay_account_asks_total": "How often the worker asked for the account of a service.",
}

// NewMetrics has nothing counted yet.
func NewMetrics() *Metrics { return &Metrics{all: &table{families: map[string]*family{}}} }

// WithTags are the same counters under tags, which win over those of the same name.
func (m *Metrics) WithTags(tags map[string]string) client.MetricsHandler {
	all := maps.Clone(m.tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, tags)
	return &Metrics{tags: all, all: m.all}
}

// Counter is a number that the SDK adds to.
func (m *Metrics) Counter(name string) client.MetricsCounter { return counter{m, name} }

// Gauge is a number that the SDK sets.
func (m *Metrics) Gauge(name string) client.MetricsGauge { return gauge{m, name} }

// Timer is a time that the SDK takes.
func (m *Metrics) Timer(name string) client.MetricsTimer { return timer{m, name} }

type (
	counter struct {
		m    *Metrics
		name string
	}
	gauge counter
	timer counter
)

func (c counter) Inc(n int64)    { c.m.add(c.name+"_total", kindCounter, "", float64(n)) }
func (g gauge) Update(v float64) { g.m.put(g.name, v) }
func (t timer) Record(d time.Duration) {
	t.m.add(t.name+"_seconds", kindSummary, "_sum", d.Seconds())
	t.m.add(t.name+"_seconds", kindSummary, "_count", 1)
}

// escaped is the value of a tag: these are all escapes that the form has.
var escaped = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labels are the tags as they are written, in order.
func (m *Metrics) labels() string {
	if len(m.tags) == 0 {
		return ""
	}
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m.tags)) {
		parts = append(parts, k+`="`+escaped.Replace(m.tags[k])+`"`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// of is the family of a name, made at its first use. The caller has mu.
func (t *table) of(name, kind string) *family {
	f := t.families[name]
	if f == nil {
		f = &family{kind: kind, values: map[string]float64{}}
		t.families[name] = f
	}
	return f
}

func (m *Metrics) add(name, kind, end string, v float64) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.of(name, kind).values[end+m.labels()] += v
}

func (m *Metrics) put(name string, v float64) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.of(name, kindGauge).values[m.labels()] = v
}

// count counts something of the worker itself; nil counts nothing.
func (m *Metrics) count(name string, n int64) {
	if m != nil {
		m.add("belay_"+name, kindGauge, "", float64(n))
	}
}

// more counts one of something of the worker itself, for ever; nil counts nothing.
func (m *Metrics) more(name string) {
	if m != nil {
		m.add("belay_"+name+"_total", kindCounter, "", 1)
	}
}

// health says whether the worker takes work.
func (m *Metrics) health(ready bool) {
	if m != nil {
		m.all.mu.Lock()
		m.all.ready = ready
		m.all.mu.Unlock()
	}
}

// unfit is why the worker takes no work; "" = it does.
func (m *Metrics) unfit() string {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	switch silent := time.Since(m.all.heard); {
	case !m.all.ready:
		return "it takes no work"
	case m.all.trouble != nil && silent > silentFor:
		return fmt.Sprintf("the server has not answered for %s: %v", silent.Round(time.Second), m.all.trouble)
	}
	return ""
}

// How often the server is asked whether it is there, how long it may take to answer, and for
// how long it may say nothing before the worker counts as one that takes no work.
const (
	asksEvery   = 5 * time.Second
	answersSoon = 3 * time.Second
	silentFor   = 15 * time.Second
)

// contact takes in whether the server answered.
func (m *Metrics) contact(err error) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	if m.all.trouble = err; err == nil {
		m.all.heard = time.Now()
	}
}

// listening asks the server again and again whether it is there, until ctx is done and the
// function that it gives is called. Nobody asks where nobody looks.
func (m *Metrics) listening(ctx context.Context, c client.Client) (ended func()) {
	if m == nil {
		return func() {}
	}
	m.contact(nil) // the worker has just been started by it
	done := make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(asksEvery)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				within, cancel := context.WithTimeout(ctx, answersSoon)
				_, err := c.WorkflowService().GetSystemInfo(within, &workflowservice.GetSystemInfoRequest{})
				cancel()
				m.contact(err)
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { <-done }
}

// text is all of it, in order.
func (m *Metrics) text() string {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.all.families)) {
		f := m.all.families[name]
		if help := helps[name]; help != "" {
			fmt.Fprintf(&b, "# HELP %s %s\n", name, help)
		}
		fmt.Fprintf(&b, "# TYPE %s %s\n", name, f.kind)
		for _, behind := range slices.Sorted(maps.Keys(f.values)) {
			fmt.Fprintf(&b, "%s%s %g\n", name, behind, f.values[behind])
		}
	}
	return b.String()
}

// Serve answers /healthz and /metrics until end is called; at is where it listens.
func (m *Metrics) Serve(ctx context.Context, address string) (end func(), at string, err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, "", err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte(m.text())) // who asked is gone
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if why := m.unfit(); why != "" {
			http.Error(w, why, http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n")) // who asked is gone
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			m.health(false)
		}
	}()
	return func() {
		_ = srv.Shutdown(context.WithoutCancel(ctx)) // nobody waits for its answers
		<-done
	}, l.Addr().String(), nil
}
