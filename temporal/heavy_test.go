package temporal_test

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/belaytest"
	"github.com/belay-run/belay/temporal"
)

// each is a recipe that does the same for so many items, at 8 KB that nothing packs.
func each(size int, output string) string {
	items := make([]string, size)
	for i := range items {
		items[i] = strconv.Itoa(i)
	}
	return "name: n\ncontext: {list: [" + strings.Join(items, ",") + "]}\nsteps:\n" +
		"- {id: f, foreach: list, command: 'echo x >> ran; head -c 6000 /dev/urandom | base64 -w 0'" + output + "}\n"
}

// TestBigWithoutBlobs runs what is too big for the server where there is no directory for
// that. The run goes as far as it can, and is held then with what to do about it: its
// workflow is there, and not a failure. Once there is a directory it goes on, and nothing
// that was done is done again: the next worker follows the history of the one before.
//
// promise: X
func TestBigWithoutBlobs(t *testing.T) {
	t.Parallel()
	size := 1000
	if os.Getenv("BELAY_BIG") == "0" {
		size = 400
	}
	for _, c := range []struct {
		name, output string
		size         int
		every        int // see temporal.Start
		says         string
	}{
		{"a list of all is asked for", ", output: all", size, 0, "list"},
		{"the records do not fit into another history", ", output: all", 650, 40, "records cannot go over to another one"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := onTemporal{server: devServer(t), plain: true, every: c.every, limit: 64 << 20}.stage(t, belaytest.Case{Recipe: each(c.size, c.output)})
			if err := <-s.begin(); err != nil {
				t.Fatal(err)
			}
			tree, recs, err := s.read()
			if err != nil {
				t.Fatal(err)
			}
			why := tree.HeldFor()
			if tree.Status() != belay.Held || !strings.Contains(why, c.says) || !strings.Contains(why, "--blobs") || !strings.Contains(why, "belay-temporal resume "+string(s.id)) {
				t.Fatalf("the run is %s after %d records: %q", tree.Status(), len(recs), why)
			}
			if err := s.going(); err != nil {
				t.Fatal(err)
			}
			t.Logf("held after %d records: %s", len(recs), why)

			if err := s.worker.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			_ = s.worker.Wait() // it was told to end
			s.place.Blobs = t.TempDir()
			s.note()
			s.work()
			s.connect()
			open, err := s.engine.Resume(s.id)
			if err != nil {
				t.Fatal(err)
			}
			s.drive(open, nil)
			if o := s.look(map[string]string{"ran": ""}); o.Status != belay.Achieved || strings.Count(o.Files["ran"], "x") != c.size {
				t.Errorf("the run is %s: %v; its steps ran %d times; %s", o.Status, o.Failures, strings.Count(o.Files["ran"], "x"), s.last())
			}
		})
	}
}

// TestManyInputsAtOnce starts many steps at once whose inputs are together more than the
// server takes in one message.
//
// promise: X
func TestManyInputsAtOnce(t *testing.T) {
	t.Parallel()
	b := make([]byte, 45_000)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	recipe := strings.Replace(each(120, ""), "context: {", "context: {big: '"+base64.StdEncoding.EncodeToString(b)+"', ", 1)
	recipe = strings.Replace(recipe, "head -c 6000 /dev/urandom | base64 -w 0", `test "${#BIG}" -eq 60000`, 1)
	s := onTemporal{server: devServer(t), plain: true}.stage(t, belaytest.Case{Recipe: recipe})
	s.spec.MaxParallel = 120
	if err := <-s.begin(); err != nil {
		t.Fatal(err)
	}
	if o := s.look(nil); o.Status != belay.Achieved {
		t.Fatalf("the run is %s: %v", o.Status, o.Failures)
	}
	if err := replay(t, s.history(), temporal.Codec{}, temporal.Workflows{Version: "test"}, nil); err != nil {
		t.Errorf("replay: %v", err)
	}
}

// last is what is on record last.
func (s *stage) last() (said string) {
	_, recs, err := s.read()
	if err != nil {
		return err.Error()
	}
	for _, r := range recs[max(0, len(recs)-8):] {
		b, err := r.MarshalJSON()
		said += fmt.Sprintf("\n%.600s %v", b, err)
	}
	return said
}

// going says what is wrong when the workflow of the run does not go on.
func (s *stage) going() error {
	c, err := s.place.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	d, err := c.DescribeWorkflowExecution(s.t.Context(), "belay-"+string(s.id), "")
	if err != nil {
		return err
	}
	if at := d.GetWorkflowExecutionInfo().GetStatus().String(); at != "Running" {
		return fmt.Errorf("its workflow is %s", at)
	}
	return nil
}
