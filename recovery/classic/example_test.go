package classic_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
)

// A task failed: ask the policy, write the decision down, then act on it.
func ExamplePolicy() {
	policy := classic.Policy{MaxRetries: classic.DefaultMaxRetries}
	failure := classic.Context{
		TaskID: "parser", Description: "write the parser", AssignedTo: recovery.Coder,
		ErrorMessage: "open /etc/secrets: permission denied", IsCritical: true,
	}
	var record classic.Record
	for failure.AttemptCount = 2; failure.AttemptCount < 4; failure.AttemptCount++ {
		decision := policy.Decide(failure)
		record.Add(classic.Entry{
			TaskID: failure.TaskID, Timestamp: time.Unix(0, 0).UTC(),
			StrategyChosen: decision.Strategy, Reason: decision.Reason(failure),
		})
		text, err := json.Marshal(decision.Strategy)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s because %s\n", text, decision.Reason(failure))
	}
	fmt.Println(record.Total(), "decisions on record")
	// Output:
	// {"retry":{"max_attempts":3,"backoff_ms":2200}} because 2 of 3 retries used
	// {"reassign":{"new_role":"reviewer"}} because coder was denied something: reviewer takes over
	// 2 decisions on record
}
