package belay_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/belay-run/belay/event"
)

// inspect holds the rules of the house against a set of files and gives one
// sentence for each place that breaks one, in a fixed order.
func inspect(sources []source) []string {
	in := &inspector{fset: token.NewFileSet(), docs: map[string][]string{}, product: map[string]bool{}, below: map[string]map[string]bool{}}
	for _, s := range sources {
		in.file(s)
	}
	in.rooms()
	sort.Strings(in.found)
	return in.found
}

type inspector struct {
	fset    *token.FileSet
	found   []string
	docs    map[string][]string // room to the files that carry its comment
	product map[string]bool     // rooms with a file that is not a test

	below map[string]map[string]bool // room to the rooms that it imports
}

func (in *inspector) say(where, format string, args ...any) {
	in.found = append(in.found, where+": "+fmt.Sprintf(format, args...))
}

func (in *inspector) at(n ast.Node) string {
	p := in.fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// file checks one file by itself and notes what its room needs to know.
func (in *inspector) file(s source) {
	in.names(s)
	f, err := parser.ParseFile(in.fset, s.path, s.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		in.say(s.path, "does not parse: %v", err)
		return
	}
	if !s.test() {
		in.product[s.room()] = true
		in.comment(s, f)
		in.imports(s, f)
		in.lengths(s, f)
	}
	in.body(s, f, imported(f))
	in.loops(s, f, imported(f))
}

// names refuses drawers, as a folder or as a file.
func (in *inspector) names(s source) {
	for _, part := range strings.Split(strings.TrimSuffix(s.path, ".go"), "/") {
		for _, word := range strings.Split(part, "_") {
			if drawers[word] {
				in.say(s.path, "%q is the name of a drawer: name the noun that lives there", word)
			}
		}
	}
}

// comment notes a package comment and checks how it begins.
func (in *inspector) comment(s source, f *ast.File) {
	if f.Doc == nil {
		return
	}
	in.docs[s.room()] = append(in.docs[s.room()], s.path)
	want := "Package " + f.Name.Name + " "
	if f.Name.Name == "main" {
		want = "Command " + path.Base(s.room()) + " "
	}
	if text := f.Doc.Text(); !strings.HasPrefix(text, want) {
		in.say(s.path, "the package comment begins %q, not %q", strings.SplitN(text, "\n", 2)[0], want)
	}
}

// lengths refuses files and functions that nobody can keep in the head.
func (in *inspector) lengths(s source, f *ast.File) {
	if n := strings.Count(s.text, "\n"); n >= maxFile {
		in.say(s.path, "%d lines; look for the noun to split it along, before it has %d", n, maxFile)
	}
	for _, d := range f.Decls {
		fun, ok := d.(*ast.FuncDecl)
		if !ok || mayBeLong[s.path+" "+fun.Name.Name] {
			continue
		}
		if n := in.fset.Position(fun.End()).Line - in.fset.Position(fun.Pos()).Line + 1; n >= maxFunc {
			in.say(in.at(fun), "%s has %d lines; look for the noun to split it along, before it has %d", fun.Name.Name, n, maxFunc)
		}
	}
}

// imports checks ranks and purity.
func (in *inspector) imports(s source, f *ast.File) {
	room := s.room()
	extra, isPure := pure[room]
	for _, spec := range f.Imports {
		name := unquote(spec)
		if spec.Name != nil && spec.Name.Name == "." {
			in.say(in.at(spec), "a dot import hides where a name comes from")
		}
		if own, ok := ownRoom(name); ok {
			in.ownImport(spec, room, own, isPure)
			continue
		}
		if isPure && !pureStd[name] && !contains(extra, name) {
			in.say(in.at(spec), "%s is a pure room and may not import %q", room, name)
		}
	}
}

func (in *inspector) ownImport(spec *ast.ImportSpec, room, own string, isPure bool) {
	if in.below[room] == nil {
		in.below[room] = map[string]bool{}
	}
	in.below[room][own] = true
	from, known := ranks[room]
	to, placed := ranks[own]
	if known && placed && to >= from {
		in.say(in.at(spec), "%s (rank %d) imports %s (rank %d): only lower ranks", room, from, own, to)
	}
	if _, ok := pure[own]; isPure && !ok {
		in.say(in.at(spec), "%s is a pure room and may not import %s, which is not", room, own)
	}
	if testSupport(own) && !testSupport(room) {
		in.say(in.at(spec), "%s imports %s: test support stays out of the product", room, own)
	}
}

// body walks the code of a file.
func (in *inspector) body(s source, f *ast.File, names map[string]string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				in.say(in.at(n), "an init function acts behind the reader's back: wire it in main")
			}
		case *ast.GoStmt:
			in.goroutine(s, n)
		case *ast.TypeAssertExpr:
			in.event(s, n, n.X, n.Type, names)
		case *ast.CaseClause:
			for _, is := range n.List {
				in.event(s, is, nil, is, names)
			}
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Go" || sel.Sel.Name == "AfterFunc") {
				in.goroutine(s, n) // a WaitGroup, a group or a timer starts one too
			}
			in.errorText(s, n, names)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && names[x.Name] != "" {
				in.selector(s, n, names[x.Name]+"."+n.Sel.Name)
			}
		}
		return true
	})
}

var (
	exits  = set("os.Exit", "syscall.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "runtime.Goexit")
	clocks = set(
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
		"time.Tick", "time.NewTimer", "time.NewTicker",
	)
	prints = set("fmt.Print", "fmt.Printf", "fmt.Println", "fmt.Scan", "fmt.Scanf", "fmt.Scanln")
)

func (in *inspector) selector(s source, n ast.Node, name string) {
	if s.test() {
		if name == "time.Sleep" {
			in.say(in.at(n), "a test that sleeps is slow or wrong: wait for a condition")
		}
		return
	}
	_, isPure := pure[s.room()]
	switch {
	case exits[name] && !allowed(mayExit, s):
		in.say(in.at(n), "%s: only main ends the process, after every deferred call", name)
	case clocks[name] && (isPure || noClock[s.room()]):
		in.say(in.at(n), "%s: %s has no clock; time comes in as a value", name, s.room())
	case prints[name] && isPure:
		in.say(in.at(n), "%s: %s has no terminal", name, s.room())
	}
}

// errorText refuses decisions on the wording of an error.
func (in *inspector) errorText(s source, call *ast.CallExpr, names map[string]string) {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.test() || allowed(mayReadErrors, s) {
		return
	}
	x, ok := fun.X.(*ast.Ident)
	if !ok || names[x.Name] != "strings" && names[x.Name] != "regexp" {
		return
	}
	for _, arg := range call.Args {
		c, ok := arg.(*ast.CallExpr)
		if !ok {
			continue
		}
		if sel, ok := c.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Error" && len(c.Args) == 0 {
			in.say(in.at(call), "a decision on the text of an error: use errors.Is or errors.As")
		}
	}
}

// events are the names of all kinds of events.
var events = func() map[string]bool {
	names := map[string]bool{}
	for _, e := range event.All() {
		names[reflect.TypeOf(e).Name()] = true
	}
	return names
}()

// event refuses to tell events apart: an assertion on what a record says, or a
// type of event as the case of a switch.
func (in *inspector) event(s source, at ast.Node, of, is ast.Expr, names map[string]string) {
	field, ok := of.(*ast.SelectorExpr)
	if facesOnly(s) && (ok && field.Sel.Name == "Event" || events[eventType(is, names)]) {
		in.say(in.at(at), "%s tells events apart: ask the story, which folds records for all", s.room())
	}
}

// eventType is the name of a type of the room event; "" for any other.
func eventType(is ast.Expr, names map[string]string) string {
	sel, ok := is.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); !ok || names[x.Name] != module+"/event" {
		return ""
	}
	return sel.Sel.Name
}

// facesOnly tells whether a file must not fold records.
func facesOnly(s source) bool { return !s.test() && !testSupport(s.room()) && !allowed(mayFold, s) }

// loops refuses to go through records one by one. Without types it goes by the
// names that the file gives to lists of them.
func (in *inspector) loops(s source, f *ast.File, names map[string]string) {
	if !facesOnly(s) {
		return
	}
	lists := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				lists[name.Name] = lists[name.Name] || isRecords(n.Type, names)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				lists[name.Name] = lists[name.Name] || isRecords(n.Type, names)
			}
		case *ast.AssignStmt:
			if id, ok := n.Lhs[0].(*ast.Ident); ok && loads(n.Rhs[0]) {
				lists[id.Name] = true
			}
		}
		return true
	})
	ast.Inspect(f, func(n ast.Node) bool {
		if r, ok := n.(*ast.RangeStmt); ok && (lists[listName(r.X)] || loads(r.X)) {
			in.say(in.at(r), "%s goes through records: ask the story, which folds them for all", s.room())
		}
		return true
	})
}

// isRecords tells whether a type is a list of records.
func isRecords(is ast.Expr, names map[string]string) bool {
	list, ok := is.(*ast.ArrayType)
	return ok && eventType(list.Elt, names) == "Record"
}

// loads tells whether an expression reads records from a journal.
func loads(x ast.Expr) bool {
	call, ok := x.(*ast.CallExpr)
	if !ok || len(call.Args) > 0 {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && (sel.Sel.Name == "Load" || sel.Sel.Name == "Recent")
}

// listName is the name of a variable or a field, or of a part of it.
func listName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.SliceExpr:
		return listName(x.X)
	}
	return ""
}

// rooms checks what only the whole of a room can show.
func (in *inspector) rooms() {
	for room := range in.product {
		if _, ok := ranks[room]; !ok {
			in.say(room, "has no rank: place it in the table of arch_test.go")
		}
		switch docs := in.docs[room]; {
		case len(docs) == 0:
			in.say(room, "has no package comment that says what it does and what it refuses")
		case len(docs) > 1:
			sort.Strings(docs)
			in.say(room, "has more than one package comment: %s", strings.Join(docs, ", "))
		}
		if way := in.deepest(room); len(way) > maxDepth {
			in.say(room, "is %d rooms above the ground, and may be %d: %s", len(way), maxDepth, strings.Join(way, " > "))
		}
	}
}

// deepest is the longest way down from a room by imports, the room itself included. An
// import of a higher rank, which might go in a circle, is not followed.
func (in *inspector) deepest(room string) []string {
	var longest []string
	for own := range in.below[room] {
		if ranks[own] >= ranks[room] {
			continue
		}
		if way := in.deepest(own); len(way) > len(longest) || len(way) == len(longest) && slices.Compare(way, longest) < 0 {
			longest = way
		}
	}
	return append([]string{room}, longest...)
}

// imported maps the names a file knows its imports by to their paths.
func imported(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range f.Imports {
		name := unquote(spec)
		local := path.Base(name)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		names[local] = name
	}
	return names
}

func unquote(spec *ast.ImportSpec) string {
	name, err := strconv.Unquote(spec.Path.Value)
	if err != nil { // the parser lets no other literal through
		return spec.Path.Value
	}
	return name
}

func ownRoom(name string) (string, bool) {
	if name == module {
		return ".", true
	}
	return strings.CutPrefix(name, module+"/")
}

func testSupport(room string) bool {
	return room == "belaytest" || strings.HasPrefix(room, "belaytest/") || strings.HasPrefix(room, "e2e/")
}

func allowed(list map[string]bool, s source) bool { return list[s.room()] || list[s.path] }

func contains(list []string, name string) bool {
	for _, x := range list {
		if x == name {
			return true
		}
	}
	return false
}

// goroutine refuses a goroutine outside the rooms that may own one.
func (in *inspector) goroutine(s source, n ast.Node) {
	if !s.test() && !testSupport(s.room()) && !allowed(mayGo, s) {
		in.say(in.at(n), "%s may not start a goroutine", s.room())
	}
}
