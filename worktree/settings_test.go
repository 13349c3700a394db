package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is kept reads as what was set, with all that a value can have in it; what leads git
// to other files does not, and files are those of then.
func TestKeepSettings(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	odd := "a \"b\" \\ c;#\n\td "
	r.git("config", "filter.my filter\"x.clean", odd)
	r.git("config", "--add", "credential.helper", "")
	r.git("config", "--add", "credential.helper", "store")
	r.git("config", "branch.main.remote", "origin")
	r.write(".git/config", r.read(".git/config")+"\n[filter \"y\"]\n\trequired\n")
	to := filepath.Join(realTemp(t), "kept")
	r.must(KeepSettings(t.Context(), r.dir, to))
	get := func(args ...string) string {
		out, _ := r.try(append([]string{"config", "-f", filepath.Join(to, keptConfig)}, args...)...)
		return out
	}
	if got := get("--get", "filter.my filter\"x.clean"); strings.TrimSpace(got) != strings.TrimSpace(odd) {
		t.Errorf("a value: %q", got)
	}
	if got := get("--bool", "--get", "filter.y.required"); got != "true" {
		t.Errorf("a flag: %q", got)
	}
	if got := get("--get-all", "credential.helper"); got != "\nstore" && got != "store" {
		t.Errorf("several: %q", got)
	}
	if got := get("--get", "branch.main.remote"); got != "" {
		t.Errorf("what is the repository's: %q", got)
	}
	if b, err := os.ReadFile(get("--get", "core.attributesfile")); err != nil {
		t.Errorf("attributes: %q, %v", b, err)
	}
	// a filter of the repository that came since does nothing, one that is another is as it was
	r.git("config", "filter.new.clean", "false")
	r.git("config", "filter.new.required", "true")
	r.git("config", "filter.y.clean", "false")
	r.write(".gitattributes", "*.n filter=new\n*.y filter=y\n")
	r.write("a.n", "n\n")
	r.git("config", "--unset", "filter.y.required")
	ctx, err := WithSettings(t.Context(), r.dir, to)
	r.must(err)
	p, err := find(ctx, "", r.dir)
	r.must(err)
	if _, err := p.run(ctx, "add", "a.n"); err != nil {
		t.Errorf("a filter acted: %v", err)
	}
	if _, err := p.run(t.Context(), "add", "--renormalize", "a.n"); err == nil {
		t.Error("the filter does nothing at all")
	}
	if same, err := WithSettings(t.Context(), r.dir, filepath.Join(to, "none")); err != nil || same != t.Context() {
		t.Errorf("without a folder: %v", err)
	}
}
