package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/recovery"
)

// TestPageHasEverySetting holds the page of the manual against the settings: a
// row for each, with the name of its variable and its default, and no other.
func TestPageHasEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := Defaults()
	defaults := map[string]string{
		"logs.max_bytes":      mebibytes(d.LogBytes.Value),
		"limits.recipe_bytes": mebibytes(d.RecipeBytes.Value),
		"limits.output_bytes": mebibytes(d.OutputBytes.Value),
		"limits.max_parallel": fmt.Sprint(d.MaxParallel.Value),
		"keeper.grace":        brief(d.KeeperGrace.Value),
		"kill.grace":          brief(d.KillGrace.Value),
		"secrets":             "none",
		"tests":               "the repository's own",
		"isolate.include":     "`.env*`, `node_modules`, `.venv`",
		"watch.poll":          brief(d.Watch.Poll.Value),
		"watch.stall":         brief(d.Watch.Stall.Value),
		"watch.park":          brief(d.Watch.Park.Value),
		"watch.max_resume":    fmt.Sprint(d.Watch.MaxResume.Value),
		"notify.on":           "`held`, `ended`, `stalled`",
		"notify.command":      "none",
		"notify.desktop":      fmt.Sprint(d.Notify.Desktop.Value),
		"notify.webhook":      "none",
		"notify.slack":        "none",
		"notify.ntfy":         "none",
		"notify.nudge":        brief(d.Notify.Nudge.Value),
		"notify.max_nudges":   fmt.Sprint(d.Notify.MaxNudges.Value),
		"notify.timeout":      brief(d.Notify.Timeout.Value),
		"notify.retry":        brief(d.Notify.Retry.Value),
		"notify.max_tries":    fmt.Sprint(d.Notify.MaxTries.Value),

		"notify.webhook_secret_file": "none",

		"issues.repo":        "none: issues stay on this machine",
		"issues.timeout":     brief(d.Issues.Timeout.Value),
		"issues.settle":      brief(d.Issues.Settle.Value),
		"agent":              "the first one installed and logged in",
		"agents.first_event": brief(supervise.DefaultWindows().First),
		"agents.silence":     brief(supervise.DefaultWindows().Silence),
		"agents.tool":        brief(supervise.DefaultWindows().Tool),
		"agents.patience":    brief(recovery.DefaultPatience),
		"agents.containment": fmt.Sprint(d.Agents.Containment.Value),
		"budget.max_agents":  fmt.Sprint(d.Agents.MaxAgents.Value),
		"budget.max_tokens":  "no limit",
		"budget.max_usd":     "no limit",
		"budget.max_wall":    "no limit",

		"build_stall_threshold_ms": "none",

		"plan_review":           "`" + d.PlanReview.Value + "`",
		"plan_review_rounds":    fmt.Sprint(d.ReviewRounds.Value),
		"limits.max_replans":    fmt.Sprint(d.Recovery.MaxReplans.Value),
		"recovery.policy":       "belay",
		"recovery.max_retries":  fmt.Sprint(d.Recovery.MaxRetries.Value),
		"engine":                "`" + d.Engine.Value + "`",
		"temporal.address":      "127.0.0.1:7233",
		"temporal.namespace":    "default",
		"temporal.tls":          "false",
		"temporal.profile":      "the default profile",
		"temporal.task_queue":   "belay",
		"temporal.host":         "any worker; of a worker: the machine's name",
		"temporal.runs_on":      "none",
		"temporal.lost_after":   "3m",
		"temporal.clone_from":   "origin, where that is enough",
		"temporal.snapshots_to": "none",
		"temporal.blobs":        "none",

		"recovery.staff": "all that are installed and logged in",
	}
	for _, s := range settings() {
		row := fmt.Sprintf("\n| `%s` | `%s` | %s | ", s.key, variable(s.key), defaults[s.key])
		if strings.Count(string(page), row) != 1 {
			t.Errorf("the page has no row %q", row)
		}
	}
	if rows := strings.Count(string(page), "` | `BELAY_") + strings.Count(string(page), "` | `TEMPORAL_"); rows != len(settings()) {
		t.Errorf("%d rows for %d settings", rows, len(settings()))
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// brief is a duration without the zeros behind it.
func brief(d time.Duration) string {
	return strings.NewReplacer("h0m0s", "h", "m0s", "m").Replace(d.String())
}
