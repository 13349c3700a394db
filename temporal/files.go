package temporal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/engine"
	"github.com/belay-run/belay/journal"
)

// FilesWorkflow brings the logs and big values of a run from its host to who looks
// at it: one activity on the control queue of the host.
const FilesWorkflow = "belay.files"

// FilesIn names what somebody has already: sizes of files, by their names in the
// folder of the run.
type FilesIn struct {
	Root belay.RunID      `json:"root"`
	Host string           `json:"host"`
	Have map[string]int64 `json:"have,omitempty"`
}

// Files are parts of files; More says that there are others.
type Files struct {
	Parts []Part `json:"parts,omitempty"`
	More  bool   `json:"more,omitempty"`
}

// Part is a part of a file, from an offset on.
type Part struct {
	Name string `json:"name"`
	At   int64  `json:"at"`
	Data []byte `json:"data"`
}

// answerWithin is how long who looks at a run waits for its host.
const answerWithin = 5 * time.Second

// maxFiles is how many bytes are brought at a time.
const maxFiles = 1 << 20

// shown are the folders of a run whose files are brought; all that is in them went
// through the redaction.
func shown() []string { return []string{"logs", "blobs"} }

// Files is the workflow.
func (Workflows) Files(ctx workflow.Context, in FilesIn) (got Files, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue: controlQueue(in.Host), ScheduleToStartTimeout: answerWithin, ScheduleToCloseTimeout: 30 * time.Second, StartToCloseTimeout: 20 * time.Second,
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 3},
	})
	err = workflow.ExecuteActivity(ctx, "Files", in).Get(ctx, &got)
	return got, err
}

// Files reads what somebody does not have yet.
func (h *Host) Files(_ context.Context, in FilesIn) (got Files, err error) {
	folder := string(h.Engine.State.Folder(in.Root))
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) { // the run never came here
		return got, nil
	}
	if err != nil {
		return got, fmt.Errorf("read the files of %s: %w", in.Root, err)
	}
	defer func() { _ = root.Close() }() // only read
	left := int64(maxFiles)
	for _, dir := range shown() {
		err := fs.WalkDir(root.FS(), dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !d.Type().IsRegular() {
				return err
			}
			info, err := d.Info()
			if err != nil || info.Size() <= in.Have[path] {
				return err
			}
			if left <= 0 {
				got.More = true
				return fs.SkipAll
			}
			part, err := readPart(root, path, in.Have[path], left)
			if err != nil {
				return err
			}
			left -= int64(len(part.Data))
			got.More = got.More || in.Have[path]+int64(len(part.Data)) < info.Size()
			got.Parts = append(got.Parts, part)
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return got, err
		}
	}
	return got, nil
}

func readPart(root *os.Root, path string, at, most int64) (Part, error) {
	f, err := root.Open(path)
	if err != nil {
		return Part{}, err
	}
	defer func() { _ = f.Close() }() // only read
	b, err := io.ReadAll(io.NewSectionReader(f, at, most))
	return Part{Name: path, At: at, Data: b}, err
}

// Files brings logs and big values of a run into the folder of its copy, which has the
// records up to a number. It takes no lock: what two processes bring is the same. A host
// that does not answer is engine.Silent.
func (e *Engine) Files(ctx context.Context, id belay.RunID, f journal.Folder, seq int64) (got engine.Brought, err error) {
	page, err := e.page(ctx, id, seq)
	got.Records = page.Seq > seq
	switch {
	case err != nil || page.Host == "": // then there are none
		return got, err
	case page.Missing:
		return got, &engine.Silent{Host: page.Host}
	}
	got.Bytes, err = e.files(ctx, FilesIn{Root: id, Host: page.Host}, string(f))
	return got, err
}

func (e *Engine) files(ctx context.Context, in FilesIn, folder string) (bytes int64, err error) {
	for {
		in.Have = map[string]int64{}
		for _, dir := range shown() {
			_ = filepath.WalkDir(filepath.Join(folder, dir), func(path string, d fs.DirEntry, err error) error { // an error means: bring it again
				if err != nil || d.IsDir() {
					return err
				}
				name, err := filepath.Rel(folder, path)
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err == nil {
					in.Have[name] = info.Size()
				}
				return err
			})
		}
		run, err := e.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: fmt.Sprintf("belay-files-%s-%d", in.Root, time.Now().UnixNano()), TaskQueue: e.Queue, WorkflowExecutionTimeout: time.Minute,
		}, FilesWorkflow, in)
		var got Files
		if err == nil {
			err = run.Get(ctx, &got)
		}
		if late := (*temporal.TimeoutError)(nil); errors.As(err, &late) {
			return bytes, &engine.Silent{Host: in.Host}
		}
		if err != nil {
			return bytes, unreachable("bring logs from host "+in.Host, err)
		}
		for _, p := range got.Parts {
			if err := putPart(folder, p); err != nil {
				return bytes, err
			}
			bytes += int64(len(p.Data))
		}
		if !got.More || len(got.Parts) == 0 {
			return bytes, nil
		}
	}
}

func putPart(folder string, p Part) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // the file itself is closed below
	if err := root.MkdirAll(filepath.Dir(p.Name), 0o700); err != nil {
		return fmt.Errorf("keep %s: %w", p.Name, err)
	}
	f, err := root.OpenFile(p.Name, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("keep %s: %w", p.Name, err)
	}
	_, err = f.WriteAt(p.Data, p.At)
	return errors.Join(err, f.Close())
}
