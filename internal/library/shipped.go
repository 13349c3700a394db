package library

import (
	"embed"
	"path"
	"strings"
)

// shipped are the recipes that are part of Belay. One of the same name in any place
// where recipes are looked for is taken instead.
//
//go:embed shipped/*.yaml
var shipped embed.FS

// Shipped is the source of a shipped recipe; nil when there is none of that name.
func Shipped(name string) []byte {
	src, err := shipped.ReadFile(path.Join("shipped", name+".yaml"))
	if err != nil {
		return nil
	}
	return src
}

// ShippedNames are the names of all shipped recipes, sorted.
func ShippedNames() []string {
	files, _ := shipped.ReadDir("shipped") // it is part of the program
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f.Name(), ".yaml")
	}
	return names
}
