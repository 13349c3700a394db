package check

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/effect"
)

// Order is what one check is to do.
type Order struct {
	Dir    string             `json:"dir"` // of the step
	Run    string             `json:"run"` // of the run: how far up one looks without a repository
	Tests  *effect.TestPlan   `json:"tests,omitempty"`
	PR     *effect.PRQuestion `json:"pr,omitempty"`
	Report string             `json:"report"`           // the file for what was seen
	Within time.Duration      `json:"within,omitempty"` // one question to the forge; 0 = the usual
}

// maxReport is the biggest report that is read.
const maxReport = 4 << 20

// Write keeps the order in a file.
func (o Order) Write(path string) error {
	b, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("write the order of a check: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write the order of a check: %w", err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("write the order of a check: %w", err)
	}
	return nil
}

// ReadOrder reads what Write kept.
func ReadOrder(path string) (Order, error) {
	var o Order
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		return o, fmt.Errorf("read the order of a check: %w", err)
	}
	return o, nil
}

// ReadReport reads what a check has seen.
func ReadReport(path string) (effect.CheckReport, error) {
	var r effect.CheckReport
	info, err := os.Stat(path)
	if err != nil {
		return r, fmt.Errorf("read the report of a check: %w", err)
	}
	if info.Size() > maxReport {
		return r, fmt.Errorf("read the report of a check: it has %d bytes", info.Size())
	}
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return r, fmt.Errorf("read the report of a check: %w", err)
	}
	return r, nil
}

// writeReport puts a report in its place at once: a reader sees all of it or none.
func writeReport(path string, r effect.CheckReport) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write the report of a check: %w", err)
	}
	part := path + ".part"
	if err := os.WriteFile(part, b, 0o600); err != nil {
		return fmt.Errorf("write the report of a check: %w", err)
	}
	if err := os.Rename(part, path); err != nil {
		return fmt.Errorf("write the report of a check: %w", err)
	}
	return nil
}
