package temporal_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/belay-run/belay/belaytest"
)

// TestStrictReplayFindsAnotherOrder builds the program replay twice: as it is, and with
// a brain that begins steps in the opposite order. An open history, and all that are
// kept, go on under both; the strict mode refuses the second one, and it alone.
//
// promise: K1
func TestStrictReplayFindsAnotherOrder(t *testing.T) {
	t.Parallel()
	server := devServer(t)
	const was = "\tfor _, i := range ready {\n"
	source, err := filepath.Abs(filepath.Join("..", "flow", "start.go"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), was) != 1 {
		t.Fatalf("%s has no longer the one loop over the steps that can begin", source)
	}
	other := strings.Replace(string(b), was, "\tfor _, i := range slices.Backward(ready) {\n", 1)
	other = strings.Replace(other, "import (\n", "import (\n\t\"slices\"\n", 1)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "start.go"), other)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {source: filepath.Join(dir, "start.go")}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	same, turned := filepath.Join(dir, "same"), filepath.Join(dir, "turned")
	build(t, same)
	build(t, turned, "-overlay", filepath.Join(dir, "overlay.json"))

	s := onTemporal{server: server}.stage(t, belaytest.Case{Recipe: "name: n\nsteps:\n" +
		"- {id: a, needs: [], command: 'true'}\n- {id: b, needs: [], command: 'true'}\n- {id: c, needs: [], command: 'true'}\n" +
		"- {id: d, needs: [a, b, c], command: exit 5, on_failure: escalate}\n"})
	if err := <-s.begin(); err != nil {
		t.Fatal(err)
	}
	raw, err := protojson.Marshal(s.history())
	if err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(dir, "open.json")
	write(t, open, string(raw))
	kept, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json.gz"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, c := range []struct {
		program string
		args    []string
		ok      bool
	}{
		{same, append([]string{open}, kept...), true},
		{turned, append([]string{open}, kept...), true},
		{same, []string{"-strict", open}, true},
		{turned, []string{"-strict", open}, false},
	} {
		out, err := exec.CommandContext(t.Context(), c.program, c.args...).CombinedOutput()
		if (err == nil) != c.ok || !c.ok && !strings.Contains(string(out), "the history has") {
			t.Errorf("%s %q: %v\n%s", filepath.Base(c.program), c.args[:1], err, out)
		}
	}
}

// build builds the program replay.
func build(t *testing.T, to string, flags ...string) {
	t.Helper()
	args := append(append([]string{"build", "-o", to}, flags...), "./cmd/replay")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}
