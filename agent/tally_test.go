package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/rogpeppe/go-internal/txtar"
)

// inWords is a tally as the tables write it.
func inWords(t *belay.Tally) string {
	if t == nil {
		return "nothing"
	}
	var words []string
	for _, n := range []struct {
		count int
		name  string
	}{{t.Passed, "passed"}, {t.Failed, "failed"}} {
		if n.count != 0 {
			words = append(words, fmt.Sprint(n.count, " ", n.name))
		}
	}
	if t.Bad {
		words = append(words, "bad")
	}
	if t.None {
		words = append(words, "none")
	}
	if len(words) == 0 {
		return "some"
	}
	return strings.Join(words, ", ")
}

// What runners really printed.
// promise: H3
func TestTallyOfRunners(t *testing.T) {
	t.Parallel()
	real, err := txtar.ParseFile("testdata/tally.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range real.Files {
		name, want, _ := strings.Cut(f.Name, ": ")
		if got := inWords(TallyOf(string(f.Data))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if len(real.Files) < 70 {
		t.Errorf("%d outputs", len(real.Files))
	}
}

// Runners that print more than one form, and what is none of theirs.
// promise: H3
func TestTallyOfLines(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"":                                "nothing",
		"ok":                              "nothing",
		"done\nall tests pass":            "nothing",
		"ok 1 of 3 files":                 "nothing",
		"PASS":                            "nothing",
		"2 files changed, 1 insertion(+)": "nothing",
		"FAIL":                            "bad",
		"the word FAIL in a sentence":     "nothing",
		"    x_test.go:3: FAIL":           "nothing",
		"BUILD SUCCESSFUL in 1s":          "nothing",
		"{\"Action\":\"x\"}":              "nothing",
		"Compiled in 3 passed":            "nothing",
		"2 passed by the gate":            "nothing",
		"all 2 passed":                    "nothing",
		"1 error in the file":             "nothing",
		"Finished in 2 errors":            "nothing",
		"\x1b[32mok  \texample.org/a\t0.1s\x1b[0m":                                         "some",
		"ok  \ta\t0.1s\nok  \tb\t0.1s [no tests to run]":                                   "some",
		"?   \ta\t[no test files]\nok  \tb\t0.1s\tcoverage: 80.0% of statements":           "some",
		"ok  \ta\t0.1s\r\nFAIL\tb [setup failed]\r\n":                                      "bad",
		"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\nok  \ta\t0.1s": "1 passed",
		"2 passed":                             "2 passed",
		"1 test passed.":                       "1 passed",
		"2 tests passed, 0 failed":             "2 passed",
		"2 passed, 0 failed, 1 skipped":        "2 passed",
		"2 passed; 1 failed":                   "2 passed, 1 failed, bad",
		"1 failed, 2 passed":                   "2 passed, 1 failed, bad",
		"0 passed":                             "none",
		"3 passed in 0.1s\n3 passed":           "6 passed",
		"DONE 42 tests, 1 skipped in 0.5s":     "41 passed",
		"DONE 3 tests, 1 failure in 0.5s":      "2 passed, 1 failed, bad",
		"0 tests ran\nOK":                      "none",
		"0 tests found in a\n3 passed in 0.1s": "3 passed",
		"DONE 0 tests in 0.1s":                 "none",
		"Ran 3 of 5 Specs in 0.001 seconds\nSUCCESS! -- 3 Passed | 0 Failed | 0 Pending | 2 Skipped": "3 passed",
		"FAIL! -- 2 Passed | 1 Failed | 0 Pending | 0 Skipped":                                       "2 passed, 1 failed, bad",
		"==== 1 failed, 3 passed, 2 warnings in 61.20s (0:01:01) ====":                               "3 passed, 1 failed, bad",
		"== 1 xfailed in 0.1s ==":                                                                       "none",
		"== 5 warnings in 0.1s ==":                                                                      "none",
		"no tests collected in 0.01s":                                                                   "none",
		"Ran 12 tests in 0.5s\n\nOK (expected failures=1)":                                              "12 passed",
		"Ran 12 tests in 0.5s\n\nFAILED (errors=2)":                                                     "10 passed, 2 failed, bad",
		"Ran 0 tests in 0.000s\n\nNO TESTS RAN":                                                         "none",
		"Tests:       12 passed, 12 total":                                                              "12 passed",
		"Test Suites: 1 failed, 1 total\nTests:       0 total":                                          "bad",
		"Tests:  0 total":                                                                               "none",
		"      Tests  no tests":                                                                         "none",
		"  Tests:    1 failed, 2 passed (5 assertions)":                                                 "2 passed, 1 failed, bad",
		"  Tests:    3 passed (5 assertions)":                                                           "3 passed",
		"  3 passed (1.2s)":                                                                             "3 passed",
		"  1 failed\n    a.spec.ts:3 › x\n  2 passed (3.0s)":                                            "2 passed, 1 failed, bad",
		"Error: No tests found":                                                                         "none",
		" 3 pass\n 0 fail\n 5 expect() calls\nRan 3 tests across 1 file. [12.00ms]":                     "3 passed",
		" 2 pass\n 1 fail\nRan 3 tests across 2 files. [12.00ms]":                                       "2 passed, 1 failed, bad",
		" 0 pass\n 0 fail\nRan 0 tests across 1 file. [2.00ms]":                                         "none",
		"ok | 3 passed | 0 failed (12ms)":                                                               "3 passed",
		"ok | 1 passed (2 steps) | 0 failed (12ms)":                                                     "1 passed",
		"FAILED | 2 passed | 1 failed (3ms)":                                                            "2 passed, 1 failed, bad",
		"ok | 0 passed | 0 failed | 3 filtered out (0ms)":                                               "none",
		"error: No test modules found":                                                                  "none",
		"     Summary [   0.1s] 3 tests run: 3 passed, 0 skipped":                                       "3 passed",
		"     Summary [   0.1s] 3 tests run: 2 passed, 1 failed, 0 skipped":                             "2 passed, 1 failed, bad",
		"     Summary [   0.0s] 0 tests run: 0 passed, 4 skipped\nerror: no tests to run":               "none",
		"test result: ok. 0 passed; 0 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.00s": "none",
		"[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0": "5 passed",
		"[WARNING] Tests run: 5, Failures: 0, Errors: 0, Skipped: 5":                                                                                    "none",
		"[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 0":                                                                                      "3 passed, 2 failed, bad",
		"[INFO] No tests to run.": "none",
		"> Task :compileTestJava\n> Task :testClasses\n> Task :test\n\nBUILD SUCCESSFUL in 1s": "some",
		"> Task :compileTestJava NO-SOURCE\n> Task :test NO-SOURCE":                            "none",
		"> Task :test UP-TO-DATE":                                                   "none",
		"> Task :app:testDebugUnitTest UP-TO-DATE\n> Task :lib:test":                "some",
		"> Task :testClasses UP-TO-DATE\n> Task :test":                              "some",
		"3 tests completed, 1 failed\n\n> Task :test FAILED":                        "1 failed, bad",
		"[info] Passed: Total 3, Failed 0, Errors 0, Passed 3":                      "3 passed",
		"[error] Failed: Total 3, Failed 1, Errors 0, Passed 2":                     "2 passed, 1 failed, bad",
		"100% tests passed, 0 tests failed out of 7":                                "7 passed",
		"Ok:                 3\nExpected Fail:      0\nFail:               1":       "3 passed, 1 failed, bad",
		"[  PASSED  ] 3 tests.":                                                     "3 passed",
		"[  PASSED  ] 0 tests.":                                                     "none",
		"[  PASSED  ] 2 tests.\n[  FAILED  ] 1 test, listed below:":                 "2 passed, 1 failed, bad",
		"All tests passed (12 assertions in 3 test cases)":                          "3 passed",
		"test cases: 3 | 2 passed | 1 failed":                                       "2 passed, 1 failed, bad",
		"No tests ran":                                                              "none",
		"3 examples, 0 failures":                                                    "3 passed",
		"3 examples, 1 failure, 1 pending":                                          "1 passed, 1 failed, bad",
		"0 examples, 0 failures":                                                    "none",
		"0 examples, 0 failures, 1 error occurred outside of examples":              "1 failed, bad",
		"3 runs, 4 assertions, 0 failures, 0 errors, 0 skips":                       "3 passed",
		"3 runs, 4 assertions, 1 failures, 1 errors, 0 skips":                       "1 passed, 2 failed, bad",
		"0 runs, 0 assertions, 0 failures, 0 errors, 0 skips":                       "none",
		"1 doctest, 3 tests, 0 failures":                                            "3 passed",
		"3 tests, 0 failures, 3 excluded":                                           "none",
		"3 tests, 0 failures":                                                       "3 passed",
		"3 tests, 1 failure, 1 skipped":                                             "1 passed, 1 failed, bad",
		"There are no tests to run":                                                 "none",
		"3 scenarios (2 passed, 1 failed)":                                          "2 passed, 1 failed, bad",
		"0 scenarios":                                                               "none",
		"3 successes / 0 failures / 0 errors / 0 pending : 0.1 seconds":             "3 passed",
		"OK (3 tests, 5 assertions)":                                                "3 passed",
		"FAILURES!\nTests: 3, Assertions: 5, Failures: 1.":                          "2 passed, 1 failed, bad",
		"Tests: 3, Assertions: 5, Errors: 1, Failures: 1, Warnings: 2, Skipped: 1.": "2 failed, bad",
		"OK, but some tests were skipped!\nTests: 2, Assertions: 0, Skipped: 2.":    "none",
		"No tests executed!":                                                        "none",
		"Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 5 ms - a.dll": "3 passed",
		"Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 5 ms - a.dll": "2 passed, 1 failed, bad",
		"Total tests: 3\n     Passed: 3":                                        "3 passed",
		"No test is available in /home/dev/a.dll. Make sure that":               "none",
		"No test matches the given testcase filter `x` in a.dll":                "none",
		"Executed 3 tests, with 0 failures (0 unexpected) in 0.1 (0.2) seconds": "some",
		"Executed 0 tests, with 0 failures (0 unexpected) in 0.0 (0.0) seconds": "none",
		"✔ Test run with 3 tests in 1 suite passed after 0.001 seconds.":        "3 passed",
		"00:01 +3: All tests passed!":                                           "3 passed",
		"00:01 +3 -1: Some tests failed.":                                       "3 passed, 1 failed, bad",
		"Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.":           "3 passed",
		"Executed 1 out of 1 test: 1 test passes.":                              "some",
		"Executed 2 out of 2 tests: 1 test passes and 1 fails locally.":         "bad",
		"1..3\nok 1 a\nok 2 b # skip\nok 3 c # TODO":                            "1 passed",
		"1..0":                                  "none",
		"1..2\nok 1 a\nnot ok 2 b # TODO later": "1 passed",
		"ok 1 a\nok 2 b":                        "nothing",
		"> lab@1.0.0 test\n> echo \"ok\" && exit 0\n\nok":          "none",
		"> lab@1.0.0 test:unit\n> true":                            "none",
		"> lab@1.0.0 test /home/dev/lab\n> echo ok":                "none",
		"> lab@1.0.0 test\n> ./check.sh\n\nfine":                   "nothing",
		"> lab@1.0.0 build\n> echo ok":                             "nothing",
		"yarn run v1.22.0\n$ echo ok\nok":                          "none",
		"yarn run v1.22.0\n$ jest\nTests:       2 passed, 2 total": "2 passed",
		"$ echo ok": "nothing",
	} {
		if got := inWords(TallyOf(output)); got != want {
			t.Errorf("%q: %s, want %s", output, got, want)
		}
	}
}

// Each reader looks at what a command printed, and at nothing else.
// promise: H3
func TestReadersTallyWhatCommandsPrint(t *testing.T) {
	t.Parallel()
	const out = `=== 3 passed in 0.1s ===\n`
	for _, c := range []struct {
		kind  Kind
		lines []string
		want  string
	}{
		{Claude, []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"pytest"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"shown"}]},"tool_use_result":{"stdout":"` + out + `","stderr":""}}`,
		}, "3 passed"},
		{Claude, []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"pytest"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"` + out + `"}]}]}}`,
		}, "3 passed"},
		{Claude, []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"log"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"` + out + `"}]}}`,
		}, "nothing"},
		{Codex, []string{
			`{"type":"item.completed","item":{"id":"a","type":"command_execution","command":"pytest","aggregated_output":"` + out + `","exit_code":0,"status":"completed"}}`,
		}, "3 passed"},
		{Gemini, []string{
			`{"type":"tool_use","tool_name":"run_shell_command","tool_id":"a","parameters":{"command":"pytest"}}`,
			`{"type":"tool_result","tool_id":"a","status":"success","output":"` + out + `"}`,
		}, "3 passed"},
		{Gemini, []string{
			`{"type":"tool_use","tool_name":"read_file","tool_id":"a","parameters":{}}`,
			`{"type":"tool_result","tool_id":"a","status":"success","output":"` + out + `"}`,
		}, "nothing"},
		{Copilot, []string{
			`{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"bash","arguments":{"command":"pytest"}}}`,
			`{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"shellExecution":{"exitCode":0},"result":{"content":"` + out + `<shellId: 0 completed with exit code 0>"}}}`,
		}, "3 passed"},
		{OpenCode, []string{
			`{"type":"tool_use","part":{"tool":"bash","callID":"a","state":{"status":"completed","input":{"command":"pytest"},"output":"` + out + `","metadata":{"exit":0}}}}`,
		}, "3 passed"},
		{Qwen, []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"run_shell_command","input":{"command":"pytest"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"` + out + `"}]}}`,
		}, "3 passed"},
		{Qwen, []string{
			`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"run_shell_command","input":{"command":"pytest"}}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":"Command: pytest\nOutput: 1 failed in 0.1s\nExit Code: 1"}]}}`,
		}, "1 failed, bad"},
		{Scripted, []string{
			`{"type":"tool","id":"a","tool":{"name":"bash","command":"pytest"}}`,
			`{"type":"done","id":"a","tool":{"name":"bash","command":"pytest","exit":0},"output":"` + out + `"}`,
		}, "3 passed"},
	} {
		ad, _ := New(c.kind)
		r := ad.Reader()
		var shown *belay.ToolCall
		for _, line := range c.lines {
			for _, s := range r.Line([]byte(line)) {
				if s.Kind == SignDone {
					shown = s.Tool
				}
			}
		}
		kept := r.End(Exit{}).Tools
		if len(kept) != 1 || shown == nil {
			t.Errorf("%s: %d calls", c.kind, len(kept))
			continue
		}
		if got := inWords(kept[0].Tally); got != c.want || inWords(shown.Tally) != c.want {
			t.Errorf("%s: %s, want %s", c.kind, got, c.want)
		}
	}
}

// An output of any size is read at its two ends. What nobody read may tell of
// tests that ran.
func TestTallyOfMuchOutput(t *testing.T) {
	t.Parallel()
	noise := strings.Repeat("a line of noise that says nothing at all\n", 250_000)
	began := time.Now()
	for end, want := range map[string]string{
		"ok  \ta\t0.1s [no tests to run]\n": "none", "3 passed in 0.1s\n": "3 passed", "--- PASS: TestA (0.1s)\nok  \ta\t0.1s\n": "some", "\n": "nothing",
	} {
		if got := inWords(TallyOf(noise + end)); got != want {
			t.Errorf("%q: %s, want %s", end, got, want)
		}
	}
	for between, want := range map[string]string{
		"ok  \tb\t0.1s\n": "nothing", "--- PASS: TestA (0.1s)\n": "nothing", "1..1\nok 1\n": "nothing",
		"{\"Action\":\"pass\",\"Package\":\"a\"}\n": "nothing", "=== 3 pas\x1b[0msed in 0.1s ===\n": "nothing", "nothing again\n": "none",
	} {
		half := noise[:4<<20]
		if got := inWords(TallyOf("?   \ta\t[no test files]\n" + half + between + half + "ok  \tc\t0.1s [no tests to run]\n")); got != want {
			t.Errorf("%q between: %s, want %s", between, got, want)
		}
	}
	if got := inWords(TallyOf("=== 1 failed in 0.1s ===\n" + noise)); got != "1 failed, bad" {
		t.Errorf("at the beginning: %s", got)
	}
	if got := TallyOf(strings.Repeat("1..1 passed (", 20<<20/13)); got != nil {
		t.Errorf("one long line: %+v", got)
	}
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("it took %v", d)
	}
}

func FuzzTally(f *testing.F) {
	for _, s := range []string{"ok  \ta\t0.1s", "1..2\nok 1\nnot ok 2", "=== 2 passed, 1 failed in 0.1s ===", "\x1b[1m", "{\"Action\":\"pass\",\"Package\":\"a\"}", "Tests: 3 passed"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := TallyOf(s)
		if got == nil {
			return
		}
		if !got.None && !speaks(s) {
			t.Errorf("%q tells of tests, without a sign of it", s)
		}
		if got.Passed < 0 || got.Failed < 0 || got.None && (got.Bad || got.Passed > 0) || got.Failed > 0 && !got.Bad {
			t.Errorf("%q: %+v", s, got)
		}
	})
}
