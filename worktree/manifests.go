package worktree

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// manifests are the files that say what a package manager installs.
var manifests = []string{
	"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bower.json", "deno.json",
	"requirements*.txt", "pyproject.toml", "setup.py", "setup.cfg", "Pipfile", "Pipfile.lock", "poetry.lock", "uv.lock", "pdm.lock",
	"environment.yml", "pixi.toml", "tox.ini", "noxfile.py", "go.mod", "go.sum", "composer.json", "composer.lock", "Gemfile", "Gemfile.lock",
	"Podfile", "Podfile.lock", "Cartfile", "build.gradle", "build.gradle.kts", "pom.xml", "mix.exs", "mix.lock", "elm.json", "pubspec.yaml",
	"stack.yaml", "*.opam", "renv.lock", "*.tf", ".terraform.lock.hcl", "cpanfile",
}

// wantedKeys are what a manifest in JSON says of packages, beside all keys that end in
// Dependencies; of its scripts, its version and the like nothing is installed.
var wantedKeys = map[string]bool{
	"dependencies": true, "overrides": true, "resolutions": true, "workspaces": true, "pnpm": true, "packageManager": true, // package.json
	"packages": true,                                            // package-lock.json
	"require":  true, "require-dev": true, "repositories": true, // composer.json
	"imports": true, // deno.json
}

// wanted is what a manifest says that is to be installed: not how it is written, and no
// comments.
func wanted(name, text string) string {
	if path.Ext(name) == ".json" {
		var all map[string]any
		if json.Unmarshal([]byte(text), &all) == nil {
			for key, value := range all {
				list, isList := value.(map[string]any)
				if !wantedKeys[key] && !strings.HasSuffix(key, "Dependencies") || isList && len(list) == 0 {
					delete(all, key)
				}
			}
			if len(all) == 0 {
				return ""
			}
			b, _ := json.Marshal(all) // what was read can be written
			return string(b)
		}
	}
	var words []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			words = append(words, strings.Fields(line)...)
		}
	}
	return strings.Join(words, "")
}

// wantsOther tells whether a commit wants other packages installed than what the work
// began with.
func (p place) wantsOther(ctx context.Context, base, commit string) (bool, error) {
	args := []string{"diff", "--name-only", "-z", "--no-renames", base, commit, "--"}
	for _, name := range manifests {
		args = append(args, ":(top,glob)**/"+name)
	}
	out, err := p.run(ctx, args...)
	if err != nil {
		return false, err
	}
	for _, name := range records(out) {
		was, _ := p.run(ctx, "cat-file", "blob", base+":"+name) // none: it wanted nothing
		now, _ := p.run(ctx, "cat-file", "blob", commit+":"+name)
		if wanted(name, was) != wanted(name, now) {
			return true, nil
		}
	}
	return false, nil
}

// declared tells whether a file beside a folder of dependencies, or above it, says what
// is to be in it.
func declared(top, name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		list, _ := os.ReadDir(filepath.Join(top, filepath.FromSlash(dir))) // what cannot be read declares nothing
		for _, d := range list {
			if !named(d.Name(), manifests) {
				continue
			}
			if text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(dir), d.Name())); err == nil && wanted(d.Name(), string(text)) != "" {
				return true
			}
		}
		if dir == "." || dir == "/" {
			return false
		}
	}
}
