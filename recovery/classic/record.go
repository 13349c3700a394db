package classic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Entry is one decision on record.
type Entry struct {
	TaskID         string    `json:"task_id"`
	Timestamp      time.Time `json:"timestamp"`
	StrategyChosen Strategy  `json:"strategy_chosen"`
	Reason         string    `json:"reason"`
}

// Line is the entry as one line of a log, for whoever records it.
func (e Entry) Line() string {
	return "task=" + strconv.Quote(e.TaskID) + " recorded=" + string(e.StrategyChosen.Kind) + " reason=" + strconv.Quote(e.Reason)
}

// Record is the list of decisions in their order. It only grows. Whoever holds
// it keeps it on disk; as JSON it is a list of entries.
type Record struct {
	entries []Entry
}

// Add puts a decision at the end.
func (r *Record) Add(e Entry) { r.entries = append(r.entries, e) }

// Total is how many decisions there are.
func (r *Record) Total() int { return len(r.entries) }

// All is a copy of the whole list.
func (r *Record) All() []Entry { return append([]Entry{}, r.entries...) }

// Of is the decisions about one task; a task that is not known has none.
func (r *Record) Of(task string) []Entry {
	return slices.DeleteFunc(r.All(), func(e Entry) bool { return e.TaskID != task })
}

// MarshalJSON writes the list, which is never null.
func (r Record) MarshalJSON() ([]byte, error) { return json.Marshal(r.All()) }

// UnmarshalJSON reads a list.
func (r *Record) UnmarshalJSON(data []byte) error {
	var entries []Entry
	if err := json.Unmarshal(data, &entries); err != nil {
		return fmt.Errorf("read record of decisions: %w", err)
	}
	r.entries = entries
	return nil
}
