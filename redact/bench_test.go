package redact

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// pseudo is n bytes of text that look random and are the same in every run.
func pseudo(seed, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		h := fnv.New64a()
		fmt.Fprint(h, seed, i) // a hash takes any write
		b.WriteString(base64.RawStdEncoding.EncodeToString(h.Sum(nil)))
	}
	return b.String()[:n]
}

func BenchmarkWriter(b *testing.B) {
	logs := strings.Repeat("2026-01-02T15:04:05Z INFO  build: compiled internal/step/step.go in 12ms (cached: false)\n", 400)
	almost := strings.Repeat(pseudo(3, 23)[:19]+pseudo(7, 27)[:18], 800) // beginnings of secrets
	for name, text := range map[string]string{"log": logs, "base64": pseudo(-1, 32<<10), "almost": almost} {
		for _, n := range []int{0, 1, 50, 200} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				var values []string
				for i := range n {
					values = append(values, pseudo(i, 20+i%40))
				}
				r := New(values)
				p := []byte(text)
				w := r.Writer(io.Discard)
				b.SetBytes(int64(len(p)))
				b.ReportMetric(float64(len(r.patterns)), "patterns")
				for b.Loop() {
					if _, err := w.Write(p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNew: a redactor is made for every step.
func BenchmarkNew(b *testing.B) {
	values := nasty(rand.New(rand.NewPCG(1, 1)), 50) //nolint:gosec // the same in every run on purpose
	for b.Loop() {
		if New(values).Empty() {
			b.Fatal("nothing is hidden")
		}
	}
}
