//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// shellWords is what every step of the suite's recipe begins with: it writes
// down that the attempt really began, and that it came to its end.
const shellWords = `begin() { echo "$BELAY_KEY begin $$" >> ledger; }
end() { echo "$BELAY_KEY end $$" >> ledger; }
`

// writeRecipes puts the recipe of the suite and what it needs into a folder.
func writeRecipes(dir string) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "words.sh"), []byte(shellWords), 0o600),
		os.WriteFile(filepath.Join(dir, "crash.yaml"), []byte(crashRecipe()), 0o600),
		os.WriteFile(filepath.Join(dir, "inner.yaml"), []byte(innerRecipe()), 0o600),
	)
}

// step is one step of a recipe in YAML's flow style.
func step(id, needs, script string, more ...string) string {
	keys := append([]string{"id: " + id, "needs: [" + needs + "]"}, more...)
	if script != "" {
		keys = append(keys, fmt.Sprintf("command: %q", ". ./words.sh; begin; "+script+"; end"))
	}
	return "  - {" + strings.Join(keys, ", ") + "}\n"
}

// crashRecipe has 32 steps: some at the same time, a chain that hands values
// on, a retry, a timeout, a sub-recipe, a step that is not taken, and steps
// that must not run twice, with and without a check.
func crashRecipe() string {
	var b strings.Builder
	b.WriteString("name: crash\ncontext: {v0: 1}\nsteps:\n")
	b.WriteString(step("start", "", "true"))
	for i := range 6 {
		b.WriteString(step(fmt.Sprintf("wide%d", i), "start", fmt.Sprintf("sleep 0.%02d", 5+i)))
	}
	b.WriteString(step("cut", "start", "sleep 30", "timeout: 1s", "optional: true"))
	b.WriteString(step("join", "wide0, wide1, wide2, wide3, wide4, wide5, cut", "true"))
	b.WriteString(step("flaky", "join", `[ "$BELAY_ATTEMPT" -gt 1 ]`, "retry: {max_attempts: 3, backoff: 40ms}"))
	b.WriteString(step("pay", "join", "sleep 0.06; echo x >> paid", "once: true", "verify: test -s paid"))
	b.WriteString(step("send", "join", "[ ! -e hold ] || touch sending; until [ ! -e hold -o -e go ]; do sleep 0.02; done; sleep 0.06", "once: true"))
	b.WriteString("  - {id: inner, needs: [join], type: recipe, recipe: inner}\n")
	b.WriteString(step("gather", "flaky, pay, send, inner", "true"))
	last := "gather"
	for i := range 10 {
		id := fmt.Sprintf("chain%d", i)
		b.WriteString(step(id, last, fmt.Sprintf("echo $((V%d + 1))", i), fmt.Sprintf("output: v%d", i+1)))
		last = id
	}
	b.WriteString(step("never", last, "true", `condition: "v10 == '12'"`))
	b.WriteString(step("last", "never", `echo "$V10 $DEEP"`, "output: answer"))
	return b.String()
}

func innerRecipe() string {
	return "name: inner\nsteps:\n" +
		step("first", "", "sleep 0.05") +
		step("side", "", "sleep 0.07") +
		step("both", "first, side", "true") +
		step("mint", "both", "sleep 0.05; echo x >> minted", "once: true", "verify: test -s minted") +
		step("tell", "mint", "echo deep", "output: deep")
}

// entry counts what the ledger says of one attempt.
type entry struct{ begins, ends int }

// ledger is what the steps themselves wrote down, by key.
func (r *rig) ledger() (map[string]entry, error) {
	b, err := os.ReadFile(r.inWork("ledger"))
	if errors.Is(err, os.ErrNotExist) {
		return map[string]entry{}, nil
	}
	if err != nil {
		return nil, err
	}
	all := map[string]entry{}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			return nil, fmt.Errorf("ledger: bad line %q", line)
		}
		e := all[f[0]]
		switch f[1] {
		case "begin":
			e.begins++
		case "end":
			e.ends++
		}
		all[f[0]] = e
	}
	return all, nil
}
