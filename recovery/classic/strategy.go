package classic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
)

// Strategy is a recovery with what it needs. Which fields hold depends on Kind.
// As JSON it is an object with the kind as its only key, and the plain string
// "escalate".
type Strategy struct {
	Kind        belay.Act
	MaxAttempts int           // retry
	BackoffMS   int64         // retry
	NewRole     recovery.Role // reassign
	Subtasks    []Subtask     // decompose
	Reason      string        // skip, abort
}

// Subtask is a part of a task.
type Subtask struct {
	Description  string        `json:"description"`
	AssignedTo   recovery.Role `json:"assigned_to"`
	Dependencies []string      `json:"dependencies"` // never null
}

type (
	retryBody struct {
		MaxAttempts int   `json:"max_attempts"`
		BackoffMS   int64 `json:"backoff_ms"`
	}
	reassignBody struct {
		NewRole recovery.Role `json:"new_role"`
	}
	decomposeBody struct {
		Subtasks []Subtask `json:"subtasks"`
	}
	reasonBody struct {
		Reason string `json:"reason"`
	}
)

// MarshalJSON writes the strategy under its kind.
func (s Strategy) MarshalJSON() ([]byte, error) {
	var body any
	switch s.Kind {
	case belay.ActRetry:
		body = retryBody{s.MaxAttempts, s.BackoffMS}
	case belay.ActReassign:
		body = reassignBody{s.NewRole}
	case belay.ActDecompose:
		body = decomposeBody{whole(s.Subtasks)}
	case belay.ActSkip, belay.ActAbort:
		body = reasonBody{s.Reason}
	case belay.ActEscalate:
		return json.Marshal(string(belay.ActEscalate))
	case belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActRepair, belay.ActRecover, belay.ActFallback, belay.ActGiveUp,
		belay.ActHold, belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActStop: // none of the six
	}
	if body == nil {
		return nil, fmt.Errorf("strategy %q: unknown kind", s.Kind)
	}
	return json.Marshal(map[belay.Act]any{s.Kind: body})
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses everything else.
func (s *Strategy) UnmarshalJSON(data []byte) error {
	if data = bytes.TrimSpace(data); len(data) > 0 && data[0] == '"' {
		var word string
		if err := json.Unmarshal(data, &word); err != nil {
			return fmt.Errorf("read strategy: %w", err)
		}
		if belay.Act(word) != belay.ActEscalate {
			return fmt.Errorf("strategy %q: unknown, or it lacks its fields", word)
		}
		*s = Strategy{Kind: belay.ActEscalate}
		return nil
	}
	var tagged map[belay.Act]json.RawMessage
	if err := json.Unmarshal(data, &tagged); err != nil {
		return fmt.Errorf("read strategy: %w", err)
	}
	if len(tagged) != 1 {
		return errors.New("read strategy: an object with one key, the kind, is needed")
	}
	for kind, body := range tagged {
		got, err := readBody(kind, body)
		if err != nil {
			return fmt.Errorf("read strategy %s: %w", kind, err)
		}
		*s = got
	}
	return nil
}

func readBody(kind belay.Act, body []byte) (Strategy, error) {
	s := Strategy{Kind: kind}
	switch kind {
	case belay.ActRetry:
		var b retryBody
		err := strict(body, &b)
		s.MaxAttempts, s.BackoffMS = b.MaxAttempts, b.BackoffMS
		return s, err
	case belay.ActReassign:
		var b reassignBody
		err := strict(body, &b)
		if err == nil && b.NewRole == "" {
			err = errors.New("new_role is missing")
		}
		s.NewRole = b.NewRole
		return s, err
	case belay.ActDecompose:
		var b decomposeBody
		err := strict(body, &b)
		s.Subtasks = whole(b.Subtasks)
		return s, err
	case belay.ActSkip, belay.ActAbort:
		var b reasonBody
		err := strict(body, &b)
		s.Reason = b.Reason
		return s, err
	case belay.ActEscalate: // a plain string, see UnmarshalJSON
	case belay.ActResume, belay.ActFresh, belay.ActFailover, belay.ActRepair, belay.ActRecover, belay.ActFallback, belay.ActGiveUp,
		belay.ActHold, belay.ActNone, belay.ActVerify, belay.ActRetryAfter, belay.ActStop: // none of the six
	}
	return s, errors.New("unknown kind")
}

func strict(body []byte, into any) error {
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		return errors.New("its fields are missing")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// whole makes lists that are not there empty ones, so that JSON has no null.
func whole(parts []Subtask) []Subtask {
	out := make([]Subtask, len(parts))
	for i, p := range parts {
		if p.Dependencies == nil {
			p.Dependencies = []string{}
		}
		out[i] = p
	}
	return out
}
