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

	"go.temporal.io/sdk/client"
)

// Metrics are the counters of a worker: those of the SDK, and its own. They are
// given in the text form that Prometheus reads.
type Metrics struct {
	tags string
	all  *table
}

// table has the values by their names with tags.
type table struct {
	mu     sync.Mutex
	values map[string]float64
	kinds  map[string]string // of names without tags
	ready  bool
}

// NewMetrics has nothing counted yet.
func NewMetrics() *Metrics {
	return &Metrics{all: &table{values: map[string]float64{}, kinds: map[string]string{}}}
}

// WithTags are the same counters under tags.
func (m *Metrics) WithTags(tags map[string]string) client.MetricsHandler {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		parts = append(parts, fmt.Sprintf("%s=%q", k, tags[k]))
	}
	if m.tags != "" {
		parts = append([]string{m.tags}, parts...)
	}
	return &Metrics{tags: strings.Join(parts, ","), all: m.all}
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

func (c counter) Inc(n int64)    { c.m.add(c.name+"_total", "counter", float64(n)) }
func (g gauge) Update(v float64) { g.m.put(g.name, v) }
func (t timer) Record(d time.Duration) {
	t.m.add(t.name+"_seconds_sum", "counter", d.Seconds())
	t.m.add(t.name+"_seconds_count", "counter", 1)
}
func (m *Metrics) full(n string) string { return n + "{" + m.tags + "}" }

func (m *Metrics) add(name, kind string, v float64) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.kinds[name] = kind
	m.all.values[m.full(name)] += v
}

func (m *Metrics) put(name string, v float64) {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	m.all.kinds[name] = "gauge"
	m.all.values[m.full(name)] = v
}

// count counts something of the worker itself; nil counts nothing.
func (m *Metrics) count(name string, n int64) {
	if m != nil {
		m.add("belay_"+name, "gauge", float64(n))
	}
}

// more counts one of something of the worker itself, for ever; nil counts nothing.
func (m *Metrics) more(name string) {
	if m != nil {
		m.add("belay_"+name+"_total", "counter", 1)
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

// text is all of it, in order.
func (m *Metrics) text() string {
	m.all.mu.Lock()
	defer m.all.mu.Unlock()
	var b strings.Builder
	last := ""
	for _, full := range slices.Sorted(maps.Keys(m.all.values)) {
		name, _, _ := strings.Cut(full, "{")
		if name != last {
			fmt.Fprintf(&b, "# TYPE %s %s\n", name, m.all.kinds[name])
			last = name
		}
		fmt.Fprintf(&b, "%s %g\n", strings.TrimSuffix(full, "{}"), m.all.values[full])
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
		m.all.mu.Lock()
		ready := m.all.ready
		m.all.mu.Unlock()
		if !ready {
			http.Error(w, "it takes no work", http.StatusServiceUnavailable)
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
