package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recipe"
)

func (a *app) fmtCommand() *cobra.Command {
	var check bool
	cmd := command("fmt FILE…", "write recipes in the one usual form", 1, -1,
		func(_ context.Context, _ *cobra.Command, args []string) error { return a.format(args, check) })
	cmd.Flags().BoolVar(&check, "check", false, "change nothing; name the files that would change and exit 65")
	cmd.ValidArgsFunction = completeFiles("yaml", "yml")
	return cmd
}

// format prints the names of the files that were, or would be, changed.
func (a *app) format(files []string, check bool) error {
	changed, bad := 0, 0
	for _, file := range files {
		differs, err := formatOne(file, check)
		switch {
		case err != nil:
			a.complain(err)
			bad++
		case differs:
			a.out.line("%s", file)
			changed++
		}
	}
	switch {
	case bad > 0:
		return belay.Exit(belay.ExitInvalid, "", fmt.Errorf("%d of %d files could not be formatted", bad, len(files)), "they were not changed")
	case check && changed > 0:
		return belay.Exit(belay.ExitInvalid, "", fmt.Errorf("%d of %d files are not in the usual form", changed, len(files)), "run belay fmt on them")
	}
	return nil
}

func formatOne(file string, check bool) (differs bool, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return false, fmt.Errorf("read recipe: %w", err)
	}
	out, err := recipe.Format(src)
	if err != nil {
		return false, fmt.Errorf("format %s: %w", file, err)
	}
	if bytes.Equal(src, out) {
		return false, nil
	}
	if check {
		return true, nil
	}
	return true, replaceFile(file, out)
}

// replaceFile puts new text in the place of a file in one move, so that nobody
// ever reads a half of it. A link stays one.
func replaceFile(file string, text []byte) error {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return fmt.Errorf("write recipe: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("write recipe: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(real), ".fmt-*")
	if err != nil {
		return fmt.Errorf("write recipe: %w", err)
	}
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Chmod(info.Mode().Perm()), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), real)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the first error is what counts
		return fmt.Errorf("write recipe: %w", err)
	}
	return nil
}
