package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/recipe"
)

// maxNested is how deep the fields of an object have variables of their own.
const maxNested = 3

// environ is the environment of a step in the making.
type environ struct {
	files   Files
	room    int64           // what the values may still take
	words   map[string]bool // the words of the script
	list    []string
	spilled []string // variables whose values are too big for an environment
	load    []string // those of them that the script reads
}

// environment is what the step gets on top of the run's environment, and what
// the shell must do before the script: read the values that no environment can
// hold. Those are variables of the script alone; its children get the file.
func environment(j effect.Job, files Files) (env []string, before string, err error) {
	e := &environ{files: files, room: maxEnvAll, words: wordsOf(j.Script)}
	for _, n := range slices.Sorted(maps.Keys(j.Args)) {
		if slices.Contains(j.Ints, n) {
			if err := whole(j.Args[n], files); err != nil {
				return nil, "", err
			}
		}
		if err := e.add("a placeholder", j.Args[n], n); err != nil {
			return nil, "", err
		}
	}
	names := slices.Sorted(maps.Keys(j.Vars))
	for _, n := range names {
		long, short := recipe.EnvNames(n)
		if err := e.add(n, j.Vars[n], long, short); err != nil {
			return nil, "", err
		}
	}
	for _, n := range names { // after all others: what they hold is in there already
		if v := j.Vars[n]; v.Inline() && len(v.JSON) > 0 && v.JSON[0] == '{' {
			long, _ := recipe.EnvNames(n)
			e.fields(long, v.JSON, 1)
		}
	}
	for _, n := range slices.Sorted(maps.Keys(j.Env)) {
		e.list = append(e.list, n+"="+j.Env[n])
	}
	step, item := j.Path, j.Item
	if j.Of != "" {
		step, item = j.Of, j.Path
	}
	e.list = append(e.list, "BELAY_STEP="+string(step), "BELAY_ITEM="+string(item), "BELAY_ATTEMPT="+strconv.Itoa(j.Attempt))
	return e.list, e.before(), nil
}

// add puts a value under its names; "" is no name.
func (e *environ) add(what string, v belay.Value, names ...string) error {
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	size := v.Size
	if v.Inline() {
		size = int64(len(v.JSON)) // at least as long as the text
	}
	if size > maxEnvValue || size*int64(len(names)) > e.room {
		return e.spill(what, v, names)
	}
	text, err := textOf(what, v, e.files)
	if err != nil {
		return err
	}
	if strings.IndexByte(text, 0) >= 0 {
		return e.spill(what, v, names) // only a script that names it is refused
	}
	for _, n := range names {
		e.list = append(e.list, n+"="+text)
	}
	e.room -= size * int64(len(names))
	return nil
}

func nul(what string) error {
	return &Fault{fault.Input, fmt.Errorf("the value of %s has a NUL byte and cannot be in an environment", what)}
}

// spill hands a value over as a file.
func (e *environ) spill(what string, v belay.Value, names []string) error {
	if v.Inline() {
		kept, err := e.files.PutBlob([]byte(Plain(v.JSON)))
		if err != nil {
			return &Fault{fault.Disk, fmt.Errorf("keep the value of %s: %w", what, err)}
		}
		v = kept
	}
	path := e.files.BlobPath(v.Sha)
	read := false
	for _, n := range names {
		e.list = append(e.list, n+"_FILE="+path)
		e.spilled = append(e.spilled, n)
		if e.words[n] {
			e.load, read = append(e.load, n), true
		}
	}
	if !read {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return &Fault{fault.Input, fmt.Errorf("read the value of %s: %w", what, err)}
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return nul(what)
	}
	return nil
}

// before is the shell text that comes before the script, on its first line so
// that bash counts lines as the recipe does.
func (e *environ) before() string {
	if len(e.spilled) == 0 {
		return ""
	}
	var b strings.Builder
	// One that Belay itself inherited would be exported, and too big for that.
	b.WriteString("unset -v " + strings.Join(e.spilled, " ") + " 2>/dev/null || :; ")
	for _, n := range e.load {
		b.WriteString("IFS= read -r -d '' " + n + ` <"$` + n + `_FILE" || :; `)
	}
	return b.String()
}

// fields gives the scalar fields of an object variables of their own, as long
// as there is room: the object itself is there in any case.
func (e *environ) fields(name string, raw json.RawMessage, depth int) {
	var object map[string]json.RawMessage
	if depth > maxNested || json.Unmarshal(raw, &object) != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		at := name + "__" + strings.ReplaceAll(key, "-", "_")
		value := object[key]
		switch {
		case !isName(at) || len(value) == 0 || value[0] == '[':
		case value[0] == '{':
			e.fields(at, value, depth+1)
		default:
			text := Plain(value)
			if size := int64(len(text)); strings.IndexByte(text, 0) < 0 && size <= min(maxEnvValue, e.room) {
				e.list = append(e.list, at+"="+text)
				e.room -= size
			}
		}
	}
}

func isName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 'z' || !wordByte(byte(r)) }) < 0
}

// whole refuses what is not a whole number: in arithmetic the shell would
// evaluate it, and run what it holds.
func whole(v belay.Value, files Files) error {
	text, err := textOf("a number", v, files)
	if err != nil {
		return err
	}
	if !recipe.WholeNumber(text) {
		return &Fault{fault.Input, fmt.Errorf("%s stands in arithmetic and is not a whole decimal number", clip(text))}
	}
	return nil
}

func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return strconv.Quote(string(r[:40]) + "…")
	}
	return strconv.Quote(s)
}

// textOf is how a value looks to a shell.
func textOf(what string, v belay.Value, files Files) (string, error) {
	if v.Inline() {
		return Plain(v.JSON), nil
	}
	if v.Size > maxEnvValue {
		return "", &Fault{fault.Input, errors.New("the value of " + what + " is too big")}
	}
	b, err := os.ReadFile(files.BlobPath(v.Sha))
	if err != nil {
		return "", &Fault{fault.Input, fmt.Errorf("read the value of %s: %w", what, err)}
	}
	return string(b), nil
}

// Plain is how JSON looks to a shell: a string as it is, null as nothing,
// everything else as compact JSON.
func Plain(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// wordsOf are the runs of letters, digits and underscores in a script.
func wordsOf(script string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(script, func(r rune) bool { return r > 'z' || !wordByte(byte(r)) }) {
		words[w] = true
	}
	return words
}

func wordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}
