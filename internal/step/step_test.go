package step

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/fault"
	"github.com/belay-run/belay/proc"
)

// folder keeps files where a test can see them.
type folder string

func (f folder) LogPath(belay.Key) string   { return filepath.Join(string(f), "log") }
func (f folder) OutPath(belay.Key) string   { return filepath.Join(string(f), "out") }
func (f folder) BlobPath(sha string) string { return filepath.Join(string(f), sha) }

func (f folder) PutBlob(b []byte) (belay.Value, error) {
	sum := sha256.Sum256(b)
	sha := hex.EncodeToString(sum[:])
	return belay.Value{Sha: sha, Size: int64(len(b))}, os.WriteFile(f.BlobPath(sha), b, 0o600)
}

func (f folder) AdoptBlob(path, sha string, size int64) (belay.Value, error) {
	return belay.Value{Sha: sha, Size: size}, os.Rename(path, f.BlobPath(sha))
}

// run does a job with a real bash and gives what it printed.
func run(t *testing.T, files folder, j effect.Job, inherited ...string) string {
	t.Helper()
	s, err := Prepare(j, files, Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(s.Argv[0], s.Argv[1:]...)
	cmd.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH")}, inherited, s.Env)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return string(out)
}

// promise: L
func TestBigValuesArriveWhole(t *testing.T) {
	t.Parallel()
	files := folder(t.TempDir())
	for name, text := range map[string]string{
		"just small enough": strings.Repeat("x", maxEnvValue-2),
		"over the limit":    strings.Repeat("y", maxEnvValue+1),
		"newlines":          "\n\n a\\b $(touch x) `x` \"'" + strings.Repeat("\n", 200_000),
		"not text":          "\xff\xfe" + strings.Repeat("\x80", 150_000) + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := belay.Text(text)
			if name == "not text" {
				var err error
				if v, err = files.PutBlob([]byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			j := effect.Job{
				Script: `printf %s "$BELAY_ARG_1"; printf %s "$BIG"; printf %s "$RECIPE_VAR_big"`,
				Args:   map[string]belay.Value{"BELAY_ARG_1": v}, Vars: map[string]belay.Value{"big": v},
			}
			if got := run(t, files, j, "BIG=stale"); got != strings.Repeat(text, 3) {
				t.Errorf("%d bytes arrived, want three times %d", len(got), len(text))
			}
		})
	}
}

func TestBigValuesAreFilesForChildren(t *testing.T) {
	t.Parallel()
	files := folder(t.TempDir())
	text := strings.Repeat("z", 500_000)
	j := effect.Job{
		Script: `test ${#BIG} = 500000; bash -c 'echo "[${BIG-unset}] $(wc -c <"$BIG_FILE") $(wc -c <"$RECIPE_VAR_big_FILE")"'`,
		Vars:   map[string]belay.Value{"big": belay.Text(text)},
	}
	if got, want := run(t, files, j, "BIG=stale"), "[unset] 500000 500000\n"; got != want {
		t.Errorf("a child sees %q, want %q", got, want)
	}
}

// Many values that are small each must not be too much together.
func TestSumOfValues(t *testing.T) {
	t.Parallel()
	j := effect.Job{Script: `test ${#V39} = 90000; echo ${#V1} ${#V20}`, Vars: map[string]belay.Value{}}
	for i := range 40 {
		j.Vars["v"+string(rune('0'+i/10))+string(rune('0'+i%10))] = belay.Text(strings.Repeat("v", 90_000))
	}
	j.Vars["v1"] = belay.Text("one")
	if got := run(t, folder(t.TempDir()), j); got != "3 90000\n" {
		t.Errorf("got %q", got)
	}
}

func TestFieldsOfObjects(t *testing.T) {
	t.Parallel()
	j := effect.Job{
		Script: `echo "$OBJ|$RECIPE_VAR_obj__a__b|$RECIPE_VAR_obj__n_o|$RECIPE_VAR_obj__yes|${RECIPE_VAR_obj__list-none}"`,
		Vars:   map[string]belay.Value{"obj": {JSON: json.RawMessage(`{"a": {"b": "x y"}, "n-o": null, "yes": true, "list": [1]}`)}},
	}
	want := `{"a":{"b":"x y"},"n-o":null,"yes":true,"list":[1]}|x y||true|none` + "\n"
	if got := run(t, folder(t.TempDir()), j); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestRefusedBeforeStart(t *testing.T) {
	t.Parallel()
	number := func(text string) effect.Job {
		return effect.Job{
			Script: `echo $((BELAY_ARG_1))`, Ints: []string{"BELAY_ARG_1"},
			Args: map[string]belay.Value{"BELAY_ARG_1": belay.Text(text)},
		}
	}
	for _, good := range []string{"0", "-7", "+3", "9223372036854775807"} {
		if _, err := Prepare(number(good), folder(t.TempDir()), Limits{}, nil); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	nul := effect.Job{Script: `echo "$V"`, Vars: map[string]belay.Value{"v": belay.Text("a\x00b")}}
	bigNUL := effect.Job{Script: `echo "$V"`, Vars: map[string]belay.Value{"v": belay.Text(strings.Repeat("a", 200_000) + "\x00b")}}
	jobs := map[string]effect.Job{"a NUL": nul, "a NUL in a big one": bigNUL}
	for _, bad := range []string{"", " 1", "1 ", "010", "0x1", "1.5", "a", "a[$(touch x)]", "9223372036854775808", "1\n"} {
		jobs["number "+bad] = number(bad)
	}
	for name, j := range jobs {
		_, err := Prepare(j, folder(t.TempDir()), Limits{}, nil)
		var f *Fault
		if !errors.As(err, &f) || f.Kind != fault.Input {
			t.Errorf("%s: got %v, want a fault of kind input", name, err)
		}
	}
}

// exit is a good end with the given output.
func exit(text string) proc.Exit {
	return proc.Exit{Began: true, OutSize: int64(len(text)), OutInline: []byte(text)}
}

// promise: L
func TestObserveTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		mode       effect.JSONMode
		want       string
		degraded   bool
		fault      fault.Fault
	}{
		{"number", " 42\n", effect.JSONAuto, `42`, false, ""},
		{"text", "hello\n", effect.JSONAuto, `"hello"`, false, ""},
		{"zeros", "007", effect.JSONAuto, `"007"`, false, ""},
		{"nothing", "\n", effect.JSONAuto, `""`, false, ""},
		{"found", "so: {\"a\": 1}.", effect.JSONExtract, `{"a":1}`, false, ""},
		{"not found", "so what", effect.JSONExtract, `"so what"`, true, ""},
		{"nothing to find in", "", effect.JSONExtract, `""`, false, ""},
		{"required", "[1]", effect.JSONRequired, `[1]`, false, ""},
		{"required and missing", "no", effect.JSONRequired, "", false, fault.JSON},
		{"required and empty", "", effect.JSONRequired, "", false, fault.JSON},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := Observe(effect.Job{Output: true, JSON: c.mode}, exit(c.text), folder(t.TempDir()), Limits{}, nil)
			got := ""
			if o.Output != nil {
				got = plainJSON(o.Output.JSON)
			}
			if got != c.want || o.Degraded != c.degraded || o.Fault != c.fault {
				t.Errorf("got %s, degraded %v, fault %q", got, o.Degraded, o.Fault)
			}
		})
	}
}

func plainJSON(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '"' {
		return string(raw)
	}
	return Plain(raw)
}

// A step that failed is judged by its exit, not by what it did not print.
func TestObserveFailureComesFirst(t *testing.T) {
	t.Parallel()
	e := exit("no")
	e.Code = 3
	j := effect.Job{Output: true, JSON: effect.JSONRequired, Outputs: []effect.OutputSpec{{Name: "x", File: "gone"}}}
	if o := Observe(j, e, folder(t.TempDir()), Limits{}, nil); o.Fault != fault.None || o.Degraded || o.Exit != 3 {
		t.Errorf("got %+v", o)
	}
}

func TestObserveResults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "from a file\n", "secret.txt": "token hunter2-hunter2", "long.txt": "123456"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	observe := func(spec effect.OutputSpec) effect.Observation {
		spec.Name = "x"
		j := effect.Job{Output: true, Dir: dir, Outputs: []effect.OutputSpec{spec}}
		return Observe(j, exit(`see {"items": [{"id": 12345678901234567890}]}`), folder(t.TempDir()), Limits{MaxOut: 25}, []string{"hunter2-hunter2"})
	}
	if o := observe(effect.OutputSpec{File: "a.txt"}); string(o.Outputs["x"].JSON) != `"from a file"` {
		t.Errorf("file: %+v", o)
	}
	if o := observe(effect.OutputSpec{Path: "items[0].id"}); string(o.Outputs["x"].JSON) != `12345678901234567890` {
		t.Errorf("place: %+v", o)
	}
	o := observe(effect.OutputSpec{File: "secret.txt"})
	if strings.Contains(string(o.Outputs["x"].JSON), "hunter2") || !slices.Contains(o.Hidden, "x") {
		t.Errorf("secret: %+v", o)
	}
	for _, spec := range []effect.OutputSpec{{File: "gone"}, {File: "."}, {Path: "items[1]"}, {Path: "items.id"}, {Path: "other"}} {
		if o := observe(spec); o.Fault != fault.Result {
			t.Errorf("%+v: fault %q", spec, o.Fault)
		}
	}
}

// What was printed before the driver died may have been taken over already.
func TestObserveBigOutputTwice(t *testing.T) {
	t.Parallel()
	files := folder(t.TempDir())
	text := strings.Repeat("b", belay.MaxInline+1)
	sum := sha256.Sum256([]byte(text))
	e := proc.Exit{Began: true, OutSize: int64(len(text)), OutSha: hex.EncodeToString(sum[:])}
	if err := os.WriteFile(files.OutPath(""), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	first := Observe(effect.Job{Output: true}, e, files, Limits{}, nil)
	if first.Output == nil || first.Output.Sha != e.OutSha {
		t.Fatalf("got %+v", first)
	}
	if err := os.WriteFile(files.OutPath(""), []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if trimmed := Observe(effect.Job{Output: true}, e, files, Limits{}, nil); trimmed.Output == nil || trimmed.Output.Sha != first.Output.Sha {
		t.Errorf("a newline at the end makes another value: %+v", trimmed.Output)
	}
}
