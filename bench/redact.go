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
// ordinary log and on base64, which has nothing to skip.
func (b *bench) hide() error {
	var values []string
	for i := range 50 {
		sum := sha256.Sum256([]byte{byte(i)})
		values = append(values, base64.RawStdEncoding.EncodeToString(sum[:])[:20+i%20])
	}
	line := "2026-01-02T15:04:05Z INFO  build: compiled internal/step/step.go in 12ms (cached: false)\n"
	texts := map[string]string{"a log": strings.Repeat(line, 1000), "base64": strings.Repeat(values[3][:19]+values[7][:18], 2500)}
	for _, name := range []string{"a log", "base64"} {
		speed, err := through(redact.New(values), texts[name])
		if err != nil {
			return err
		}
		row("redactor, 50 values and shapes, "+name, "%.0f MB/s", speed)
		b.goal("redactor: seconds for 400 MB of "+name, 400/speed, 1)
	}
	return nil
}

// through is megabytes a second through a redacting writer.
func through(r *redact.Redactor, text string) (float64, error) {
	w := r.Writer(io.Discard)
	n := 0
	d, err := timed(func() error {
		for end := time.Now().Add(time.Second); time.Now().Before(end); n += len(text) {
			if _, err := io.WriteString(w, text); err != nil {
				return fmt.Errorf("write: %w", err)
			}
		}
		return w.Close()
	})
	return float64(n) / 1e6 / d.Seconds(), err
}
