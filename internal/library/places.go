package library

import (
	"os"
	"path/filepath"
)

// maxAncestors is how far up from the run's directory recipes are looked for.
const maxAncestors = 10

// bundle is the folder of a project that holds its recipes.
var bundle = filepath.Join("amplifier-bundle", "recipes")

// Places are the directories in which recipes are looked for after all others:
// those of the project that work lies in, then those that the environment and
// the home directory name. env gives a variable of the environment.
func Places(work string, env func(string) string) []string {
	var dirs []string
	for dir, n := work, 0; n <= maxAncestors; n++ {
		dirs = append(dirs, filepath.Join(dir, bundle))
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	dirs = append(dirs, OwnPlaces(env)...)
	return append(dirs, filepath.Join(work, "src", "amplihack", bundle), filepath.Join(work, ".claude", "recipes"))
}

// OwnPlaces are those of them that the user has, whatever is in the project.
func OwnPlaces(env func(string) string) []string {
	var dirs []string
	add := func(base string, parts ...string) {
		if base != "" {
			dirs = append(dirs, filepath.Join(append([]string{base}, parts...)...))
		}
	}
	add(env("AMPLIHACK_PACKAGE_RECIPE_DIR"))
	for _, dir := range filepath.SplitList(env("RECIPE_RUNNER_RECIPE_DIRS")) {
		add(dir)
	}
	add(env("AMPLIHACK_HOME"), bundle)
	add(env("HOME"), ".amplihack", bundle)
	add(env("HOME"), ".amplihack", ".claude", "recipes")
	return dirs
}
