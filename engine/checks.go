package engine

import (
	"strings"

	"github.com/belay-run/belay/event"
	"github.com/belay-run/belay/internal/check"
)

// pathOf is the PATH of an environment.
func pathOf(env []string) string {
	path := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	return path
}

// freezeChecks writes down, before the first step, how the tests are run of
// every directory that is known by then, and which programs ask the forge: what
// an agent puts in their place later is not run.
func freezeChecks(spec Spec, started *event.RunStarted, path string) {
	needs := spec.Set.Needs(spec.Dir)
	if started.TestScript == "" {
		for _, dir := range needs.Dirs {
			started.Tests = append(started.Tests, check.Find(dir, check.Top(dir, spec.Dir), path))
		}
	}
	if needs.PR {
		started.Forges = check.Programs(path, check.Forges...)
	}
}
