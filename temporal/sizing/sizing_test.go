package sizing

import (
	"strings"
	"testing"
)

// TestTable holds the sums against some that were made by hand.
func TestTable(t *testing.T) {
	t.Parallel()
	got := Table(Taken{Agents: 6000, Minutes: 10, Beat: 5, Look: 4, Prove: 8, Days: 10, GiB: 0.5, Machine: 64, Blobs: 40, Price: 50},
		Step{Events: 20, Bytes: 12_000, Turns: 6, Activities: 4, Signals: 1, Markers: 3})
	for _, want := range []string{
		"| steps a second | 6,000 / 600 s = 10 |",
		"| events a second | 10 × 20 = 200 |",
		"| history bytes | 10 × 12 KB = 120 KB/s = 10.4 GB a day; 10 days: 104 GB |",
		"| workflow tasks a second | 10 × 6 = 60 |",
		"| heartbeats a second | 6,000 / 5 s = 1,200 |",
		"| writes a second by heartbeats | 1,200 × 2 = 2,400 |",
		"| requests a second of clients, when each run is followed | queries: 6,000 / 4 s = 1,500; looks at workflows: 6,000 / 8 s = 750 |",
		"| blobs | 10 × 40 KB = 400 KB/s = 34.6 GB a day |",
		"| workers | 6,000 × 0.5 GiB / 64 GiB = 47 machines |",
		"= 80/s = 6.91 million a day",
		"| their cost, at 50 a million | 346 a day; with heartbeats 5,530 |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestNumbers: no digit is lost.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{670.0000001: "670", 0.5: "0.5", 16.6667: "16.7", 1200.4: "1,200", 1234567: "1,234,567", 100.2: "100", 40.2: "40.2", 0.0456: "0.0456"} {
		if got := n(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}
