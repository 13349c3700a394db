// Command manual writes what a release has beside the binary: the manual pages and
// the completions of shells, in folders of the one that it is given. It is run by
// make release-dry.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/belay-run/belay/internal/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(64)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	// The day of the commit, so that the same sources give the same pages.
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	day := time.Unix(seconds, 0).UTC()
	root := cli.Commands()
	root.DisableAutoGenTag = true
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	for _, d := range []string{man, completions} {
		if err := errors.Join(os.RemoveAll(d), os.MkdirAll(d, 0o755)); err != nil {
			return err
		}
	}
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &day, Source: "Belay", Manual: "Belay"}, man); err != nil {
		return err
	}
	return errors.Join(
		complete(completions, "belay.bash", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		complete(completions, "_belay", root.GenZshCompletion),
		complete(completions, "belay.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }),
	)
}

func complete(dir, name string, gen func(io.Writer) error) error {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	return errors.Join(gen(f), f.Close())
}
