package library

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/pattern"
)

// maxPersona is the biggest text of a persona.
const maxPersona = 1 << 20

var personaPart = pattern.Lazy(`^[A-Za-z0-9_-]+$`)

// PersonaPlaces are the folders that hold personas, best first: those of the
// run's directory, then the user's.
func PersonaPlaces(dir, home, configHome string) []string {
	places := []string{filepath.Join(dir, ".belay", "agents"), filepath.Join(dir, ".claude", "agents"), filepath.Join(dir, "amplifier-bundle", "agents")}
	if configHome != "" {
		places = append(places, filepath.Join(configHome, "belay", "agents"))
	}
	if home != "" {
		places = append(places, filepath.Join(home, ".claude", "agents"), filepath.Join(home, ".amplihack", ".claude", "agents"))
	}
	return places
}

// Persona finds the text of a reference "namespace:name" or
// "namespace:category:name". Nothing outside of the places is ever read, links
// included. The second result is the file; "" = there is none. One that is too
// big, no text, or cannot be read is an error.
func Persona(places []string, ref string) (text, file string, err error) {
	parts := strings.Split(ref, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return "", "", fmt.Errorf("persona %q: write namespace:name or namespace:category:name", ref)
	}
	for _, p := range parts {
		if !personaPart().MatchString(p) {
			return "", "", fmt.Errorf("persona %q: letters, digits, - and _ only", ref)
		}
	}
	for _, place := range places {
		root, err := os.OpenRoot(place) // refuses whatever leads out of it
		if err != nil {
			continue // most of the places are not there
		}
		text, file, err = within(root, place, candidates(parts))
		_ = root.Close() // read only: nothing to lose
		if file != "" || err != nil {
			return text, file, err
		}
	}
	return "", "", nil
}

// within reads the first of the names that is there. One that cannot be used is
// an error, not a reason to take another one instead.
func within(root *os.Root, place string, names []string) (text, file string, err error) {
	for _, name := range names {
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		path := filepath.Join(place, name)
		if info.Size() > maxPersona {
			return "", "", fmt.Errorf("persona %s has %d bytes, and %d are the most", path, info.Size(), maxPersona)
		}
		b, err := root.ReadFile(name)
		if err != nil {
			return "", "", fmt.Errorf("read persona %s: %w", path, err)
		}
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return "", "", fmt.Errorf("persona %s is no text", path)
		}
		return string(b), path, nil
	}
	return "", "", nil
}

// candidates are the files that a reference may mean.
func candidates(parts []string) []string {
	ns, name := parts[0], parts[len(parts)-1]+".md"
	if len(parts) == 3 {
		cat := parts[1]
		return []string{filepath.Join(ns, cat, name), filepath.Join(cat, name), filepath.Join(ns, name), name}
	}
	return []string{
		filepath.Join(ns, name), filepath.Join(ns, "core", name), filepath.Join(ns, "specialized", name),
		filepath.Join("core", name), filepath.Join("specialized", name), name,
	}
}
