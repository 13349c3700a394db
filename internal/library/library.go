// Package library finds recipe files and reads a recipe together with
// everything that it calls. It opens files and checks them; it runs nothing
// and keeps nothing.
package library

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/flow"
	"github.com/belay-run/belay/recipe"
)

// Shelf says where recipes are looked for.
type Shelf struct {
	Dirs     []string // first, in this order (-R)
	Work     string   // the run's directory
	More     []string // last (see Places)
	MaxBytes int64    // of one file
	Compat   bool     // read all of them as the older runner would
	Given    []string // variables that whoever starts the root sets

	// Own are the only directories beside Dirs in which a recipe is looked for that has
	// the name of a shipped one: a project that somebody cloned must not bring its own
	// judge. nil = all.
	Own []string
}

// Set is a recipe with all that it calls.
type Set struct {
	Root     *recipe.Recipe
	Library  flow.Library
	Sources  map[string][]byte // by digest
	Problems []recipe.Problem
	Compat   bool
	Replaced []Replaced
	Parents  map[string]string // digest of a recipe to that of the one it extends
	texts    map[string][]byte // by file, for messages
	readers  *recipe.Readers
}

// Replaced is a file that is taken instead of a shipped recipe, or that is not.
type Replaced struct {
	Name  string
	File  string
	Taken bool
}

// Instead are the shipped recipes that a file is taken for, and the file; nil for none.
func (s *Set) Instead() map[string]string {
	var m map[string]string
	for _, r := range s.Replaced {
		if r.Taken {
			if m == nil {
				m = map[string]string{}
			}
			m[r.Name] = r.File
		}
	}
	return m
}

// Expects is what a step of one of the recipes must leave behind: what it says,
// else the default of an agent step; "" for a step that owes nothing but its end.
func (s *Set) Expects(r *recipe.Recipe, i int) belay.Expect {
	st := &r.Steps[i]
	if st.Expect != "" || !st.Type.Agent() {
		return belay.Expect(st.Expect)
	}
	if s.readers == nil {
		s.readers = recipe.NewReaders(s.Root, func(name string) *recipe.Recipe { return s.Library.Recipes[s.Library.Names[name]] })
	}
	return s.readers.Default(r, i, s.Compat)
}

// Errors tells whether a problem forbids running the recipe.
func (s *Set) Errors() bool {
	for _, p := range s.Problems {
		if !p.Warning {
			return true
		}
	}
	return false
}

// Text formats all problems with their lines and carets.
func (s *Set) Text() string {
	var b strings.Builder
	for _, p := range s.Problems {
		b.WriteString(p.Format(s.texts[p.File]))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// Note adds a problem that lies in a file of another kind, whose text is src; nil
// when it is one of the recipes.
func (s *Set) Note(p recipe.Problem, src []byte) {
	s.Problems = append(s.Problems, p)
	if src != nil {
		s.texts[p.File] = src
	}
}

// ShowIn formats a problem with its line and caret for a terminal of that width; 0 for any
// other.
func (s *Set) ShowIn(p recipe.Problem, width int) string { return p.FormatIn(s.texts[p.File], width) }

// NotFound is a recipe that is in none of the places where it was looked for.
type NotFound struct {
	Name   string
	Dirs   []string
	Folder bool // it is one, and no file
}

func (e *NotFound) Error() string {
	if e.Folder {
		return fmt.Sprintf("recipe %s is a directory", e.Name)
	}
	if len(e.Dirs) == 0 {
		return fmt.Sprintf("recipe %s: no such file", e.Name)
	}
	return fmt.Sprintf("recipe %s was not found; looked in: %s", e.Name, strings.Join(e.Dirs, ", "))
}

// Load reads the recipe of a file or a name and, by name, all that it calls.
func (f Shelf) Load(arg string) (*Set, error) {
	if f.Own != nil && Shipped(arg) != nil {
		path, src, err := f.open(arg, nil) // a file of that name where the user stands is the project's
		if err != nil {
			return nil, err
		}
		return f.load(path, src)
	}
	path, src, err := f.find(arg)
	if err != nil {
		return nil, err
	}
	return f.load(path, src)
}

// LoadShipped reads a shipped recipe, whether or not one of the same name is found
// before it.
func (f Shelf) LoadShipped(name string) (*Set, error) {
	src := Shipped(name)
	if src == nil {
		return nil, &NotFound{Name: name}
	}
	return f.load(filepath.Join(recipe.Shipped, name+".yaml"), src)
}

func (f Shelf) load(path string, src []byte) (*Set, error) {
	s := &Set{
		Library: flow.Library{Recipes: map[string]*recipe.Recipe{}, Names: map[string]string{}},
		Sources: map[string][]byte{}, Parents: map[string]string{}, texts: map[string][]byte{}, Compat: f.Compat,
	}
	var err error
	s.Root, err = f.add(s, path, src)
	if s.Root == nil || err != nil {
		return s, err
	}
	byName := map[string]*recipe.Recipe{}
	dirs := f.around(path)
	if err := f.follow(s, s.Root, dirs, byName); err != nil {
		return nil, err
	}
	if f.Own != nil {
		s.Replaced = f.replaced(append(slices.Sorted(maps.Keys(byName)), strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))), dirs)
	}
	calls := recipe.Calls{Lib: byName, Dirs: distinct(dirs), Given: f.Given, Fixed: recipe.Shipped}
	s.Problems = append(s.Problems, calls.Check(s.Root)...)
	return s, nil
}

// replaced tells which of the recipes have the name of a shipped one and lie in a
// directory.
func (f Shelf) replaced(names, dirs []string) []Replaced {
	var list []Replaced
	for _, name := range names {
		if Shipped(name) == nil {
			continue
		}
		file, _, err := f.open(name, nil)
		if err == nil && filepath.Dir(file) != recipe.Shipped {
			list = append(list, Replaced{Name: name, File: file, Taken: true})
			continue
		}
		all := f
		all.Own = nil
		if file, _, err = all.open(name, dirs); err == nil && filepath.Dir(file) != recipe.Shipped {
			list = append(list, Replaced{Name: name, File: file})
		}
	}
	return list
}

// Changed names the files of a frozen set that say something else now than what was
// frozen: that of the root, by its path and digest, and those of the recipes that it calls.
// A file that is gone, and what comes with Belay, are not among them.
func (f Shelf) Changed(root, digest string, frozen map[string]string) []string {
	var list []string
	if src, err := f.read(root); err == nil && recipe.Digest(src) != digest {
		list = append(list, root)
	}
	names, _ := LoadFrozen(frozen)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		path, src, err := f.open(name, f.around(root))
		if err == nil && path != "" && filepath.Dir(path) != recipe.Shipped && recipe.Digest(src) != names[name] {
			list = append(list, path)
		}
	}
	return distinct(list)
}

// around are the folders in which the recipes lie that a root calls.
func (f Shelf) around(root string) []string {
	return slices.Concat(f.Dirs, []string{filepath.Dir(root), f.Work}, f.More)
}

// distinct are the paths without those that stand there twice.
func distinct(dirs []string) []string {
	var list []string
	for _, dir := range dirs {
		if dir = filepath.Clean(dir); !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

// follow reads the sub-recipes of r that are not read yet.
func (f Shelf) follow(s *Set, r *recipe.Recipe, dirs []string, byName map[string]*recipe.Recipe) error {
	for _, ref := range r.SubRecipes() {
		if _, known := byName[ref.Name]; known {
			continue
		}
		path, src, err := f.open(ref.Name, dirs)
		if err != nil {
			return err
		}
		if path == "" {
			continue // CheckCalls says where it is missed
		}
		sub, err := f.add(s, path, src)
		if err != nil {
			return err
		}
		if sub == nil {
			byName[ref.Name] = nil
			continue
		}
		byName[ref.Name] = sub
		s.Library.Names[ref.Name] = sub.Digest
		if err := f.follow(s, sub, dirs, byName); err != nil {
			return err
		}
	}
	return nil
}

// find reads the file of a recipe that is named by path or by name.
func (f Shelf) find(arg string) (string, []byte, error) {
	if st, err := os.Stat(arg); err == nil {
		if st.IsDir() {
			return "", nil, &NotFound{Name: arg, Folder: true}
		}
		path, err := filepath.Abs(arg)
		if err != nil {
			return "", nil, fmt.Errorf("recipe %s: %w", arg, err)
		}
		src, err := f.read(path)
		return path, src, err
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("recipe %s: %w", arg, err)
	}
	if strings.ContainsAny(arg, "/\\") || strings.HasPrefix(arg, ".") || filepath.Ext(arg) != "" {
		return "", nil, &NotFound{Name: arg}
	}
	dirs := append(append([]string{}, f.Dirs...), f.Work)
	dirs = append(dirs, f.More...)
	path, src, err := f.open(arg, dirs)
	if err == nil && path == "" {
		err = &NotFound{Name: arg, Dirs: dirs}
	}
	return path, src, err
}

// open looks a name up in the directories, then among the shipped recipes; "" when
// it is in none. A link that leads out of its directory is not followed.
func (f Shelf) open(name string, dirs []string) (string, []byte, error) {
	if f.Own != nil && Shipped(name) != nil {
		dirs = append(slices.Clone(f.Dirs), f.Own...)
	}
	for _, dir := range dirs {
		if dir == recipe.Shipped {
			continue // it stands for no folder
		}
		for _, ext := range []string{".yaml", ".yml"} {
			path := filepath.Join(dir, name+ext)
			src, err := f.readUnder(dir, name+ext)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", nil, err
			}
			abs, err := filepath.Abs(path)
			return abs, src, err
		}
	}
	if src := Shipped(name); src != nil {
		return filepath.Join(recipe.Shipped, name+".yaml"), src, nil
	}
	return "", nil, nil
}

func (f Shelf) readUnder(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // read only: nothing to lose
	info, err := root.Stat(name)
	if err == nil {
		err = regular(filepath.Join(dir, name), info)
	}
	if err != nil {
		return nil, err
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	return f.slurp(file)
}

func (f Shelf) read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read recipe: %w", err)
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read recipe: %w", err)
	}
	return f.slurp(file)
}

// regular refuses what is no file: to open a pipe waits for whoever fills it.
func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return exit.New(exit.Invalid, "read recipe", fmt.Errorf("%s is not a regular file", path), "write the recipe into a file")
}

// slurp reads one file up to the limit.
func (f Shelf) slurp(file *os.File) ([]byte, error) {
	defer func() { _ = file.Close() }() // read only: nothing to lose
	limit := f.MaxBytes
	if limit <= 0 {
		limit = recipe.MaxBytes
	}
	src, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read recipe: %w", err)
	}
	if int64(len(src)) > limit {
		return nil, exit.New(exit.Invalid, "read recipe",
			fmt.Errorf("%s is over %d bytes", file.Name(), limit), "split it into sub-recipes, or raise limits.recipe_bytes")
	}
	return src, nil
}
