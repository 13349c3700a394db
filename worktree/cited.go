package worktree

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxCited is how much of a file is looked through for a citation.
const maxCited = 16 << 20

// Cited tells whether a line of a file has some words. The file is that of a commit; without
// one it is read where it is, and must be one that a listing has: what git ignores and what
// git keeps for itself an agent can write, and nobody sees it. The path leads from the
// directory.
func Cited(ctx context.Context, dir, commit, path string, line int, words string) (bool, error) {
	if path == "" || line < 1 || words == "" {
		return false, nil
	}
	text, err := citedText(ctx, dir, commit, path)
	if err != nil || text == "" {
		return false, err
	}
	for l := range strings.Lines(text) {
		if line--; line == 0 {
			return strings.Contains(l, words), nil
		}
	}
	return false, nil
}

// citedText is what is in a file; "" = it is none that can be cited.
func citedText(ctx context.Context, dir, commit, path string) (string, error) {
	p, err := find(ctx, "", dir)
	if err != nil { // no repository: all files below the directory
		return textBelow(dir, path), nil
	}
	below, err := Prefix(ctx, dir)
	if err != nil {
		return "", err
	}
	whole := filepath.ToSlash(filepath.Join(below, path))
	if filepath.IsAbs(path) || whole == ".." || strings.HasPrefix(whole, "../") {
		return "", nil
	}
	if commit != "" {
		out, err := p.run(ctx, "cat-file", "blob", commit+":"+whole)
		if err != nil {
			return "", ctx.Err() // it is not in the commit
		}
		return out, nil
	}
	out, err := p.run(ctx, "--literal-pathspecs", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", whole)
	if err != nil {
		return "", fmt.Errorf("look for %s: %w", shown(path), err)
	}
	if out != whole+"\x00" {
		return "", nil
	}
	return textBelow(p.top, whole), nil
}

// textBelow is what is in a file below a directory; no link leads out of it.
func textBelow(dir, path string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // only read
	f, err := root.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()                // only read
	b, _ := io.ReadAll(io.LimitReader(f, maxCited)) // a folder has nothing in it
	return string(b)
}
