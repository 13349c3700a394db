package main

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/redact"
)

// hide measures how fast the redactor is with 50 secrets and all shapes, on an
// ordinary log, on base64, which has nothing to skip, and on the worst there is:
// nothing but beginnings of the secrets.
func (b *bench) hide() error {
	var values []string
	for i := range 50 {
		sum := sha256.Sum256([]byte{byte(i)})
		values = append(values, base64.RawStdEncoding.EncodeToString(sum[:])[:20+i%20])
	}
	line := "2026-01-02T15:04:05Z INFO  build: compiled internal/step/step.go in 12ms (cached: false)\n"
	for _, text := range []struct {
		name, text string
		least      float64 // MB/s
	}{
		{"a log", strings.Repeat(line, 1000), 200},
		{"base64", base64Text(90_000), 400},
		{"beginnings of secrets", strings.Repeat(values[3][:19]+values[7][:18], 2500), 100},
	} {
		speed, err := through(redact.New(values), text.text)
		if err != nil {
			return err
		}
		row("redactor, 50 values and shapes, "+text.name, "%.0f MB/s at best", speed)
		b.goal(fmt.Sprintf("redactor: seconds for %.0f MB of %s", text.least, text.name), text.least/speed, 1)
	}
	return nil
}

// base64Text is n characters of base64 that look random and are the same in every run.
func base64Text(n int) string {
	var s strings.Builder
	for i := 0; s.Len() < n; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "text %d", i))
		s.WriteString(base64.RawStdEncoding.EncodeToString(sum[:]))
	}
	return s.String()[:n]
}

// through is megabytes in a second of a processor through a redacting writer: the
// best of many short looks, which other work on the machine changes little.
func through(r *redact.Redactor, text string) (best float64, err error) {
	w := r.Writer(io.Discard)
	const writes = 10
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		begin := time.Now() // a look is shorter than a slice of a processor
		for range writes {
			if _, err := io.WriteString(w, text); err != nil {
				return 0, fmt.Errorf("write: %w", err)
			}
		}
		best = max(best, float64(writes*len(text))/1e6/time.Since(begin).Seconds())
	}
	return best, w.Close()
}
