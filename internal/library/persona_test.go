package library

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPersona(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".belay/agents/ns/one.md", "first")
	put(".claude/agents/ns/one.md", "second")
	put(".claude/agents/core/two.md", "of the core")
	put(".claude/agents/ns/cat/three.md", "three parts")
	put(".claude/agents/ns/four.md/file", "a folder")
	put(".belay/agents/ns/big.md", strings.Repeat("x", maxPersona+1))
	put(".belay/agents/ns/zero.md", "a\x00b")
	put(".belay/agents/ns/bytes.md", "\xff\xfe")
	put("secret.md", "out of the root")
	for name, to := range map[string]string{"near": "../../../secret.md", "far": filepath.Join(dir, "secret.md")} {
		if err := os.Symlink(to, filepath.Join(dir, ".belay/agents/ns", name+".md")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("one.md", filepath.Join(dir, ".belay/agents/ns/inside.md")); err != nil {
		t.Fatal(err)
	}
	places := PersonaPlaces(dir, "", "")
	for ref, want := range map[string]string{
		"ns:one": "first", "ns:two": "of the core", "ns:cat:three": "three parts", "ns:inside": "first",
		"ns:none": "", "ns:near": "", "ns:far": "", "ns:four": "",
	} {
		text, file, err := Persona(places, ref)
		if err != nil || text != want || (file == "") != (want == "") {
			t.Errorf("%s: %.20q from %q, %v; want %q", ref, text, file, err, want)
		}
	}
	if text, file, err := Persona(places, "ns:big"); err == nil || !strings.Contains(err.Error(), "big.md has 1048577 bytes") || text != "" || file != "" {
		t.Errorf("one that is too big: %.20q from %q, %v", text, file, err)
	}
	for _, ref := range []string{"ns:zero", "ns:bytes"} {
		if text, _, err := Persona(places, ref); err == nil || !strings.Contains(err.Error(), "is no text") || text != "" {
			t.Errorf("%s: %q, %v", ref, text, err)
		}
	}
	for _, ref := range []string{"one", "a:b:c:d", "..:secret", "ns:../../../secret", "ns:", "ns:a/b", "ns:a\x00b", "ns:.."} {
		if text, _, err := Persona(places, ref); err == nil || text != "" {
			t.Errorf("%q is taken: %q", ref, text)
		}
	}
}
