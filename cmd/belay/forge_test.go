package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// forgeName is the name under which this test program is gh, with issues that it
// keeps in a file: the folder $FORGE_DIR. What $FORGE_FAULTS names happens to it:
//
//	seed=N fail=P lose=P hang=P   in P of 100 acts: not done, done without an answer, done and never ended
//	lag=D listlag=D               how late the search, and the list, know of an issue
//	blind=N                       the first N lists that would show an issue show none
//	drop=1                        the first create is done without an answer
//	die=before|after              who calls is killed at its first create
//	meet=N                        creates wait for each other until there are N
//	status=N                      the answer to everything
const forgeName = "gh"

// forgeFolder is where the program lies, beside the binary under test.
func forgeFolder() string { return filepath.Join(filepath.Dir(program), "forge") }

func linkForge(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "forge"), 0o700); err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(dir, "forge", forgeName))
}

// forgeIssue is an issue as GitHub tells it, and as the file keeps it.
type forgeIssue struct {
	Number  int            `json:"number"`
	URL     string         `json:"html_url"`
	Title   string         `json:"title"`
	Body    string         `json:"body"`
	State   string         `json:"state"`
	Labels  []string       `json:"labels"`
	Created time.Time      `json:"created_at"`
	Closed  *time.Time     `json:"closed_at"`
	Said    []forgeComment `json:"said"`
}

type forgeComment struct {
	Body string    `json:"body"`
	At   time.Time `json:"at"`
}

// forge is one call of the program.
type forge struct {
	dir    string
	faults map[string]string
	lock   *os.File

	Calls  int           `json:"calls"`
	Labels []string      `json:"labels"`
	Issues []*forgeIssue `json:"issues"`
}

// playForge is the program's whole life.
func playForge(args []string) int {
	f := &forge{dir: os.Getenv("FORGE_DIR"), faults: map[string]string{}}
	for _, kv := range strings.Fields(os.Getenv("FORGE_FAULTS")) {
		name, value, _ := strings.Cut(kv, "=")
		f.faults[name] = value
	}
	if len(args) > 0 && args[0] == "play" {
		return f.play(args[1:])
	}
	method, path, input := "", "", false
	for i := 0; i < len(args); i++ {
		switch {
		case i == 0 && args[i] == "api", args[i] == "--include":
		case args[i] == "--method" && i+1 < len(args):
			i++
			method = args[i]
		case args[i] == "--input" && i+1 < len(args) && args[i+1] == "-":
			i++
			input = true
		case path == "" && !strings.HasPrefix(args[i], "-"):
			path = args[i]
		default:
			fmt.Fprintln(os.Stderr, "unknown command or flag", args)
			return 2
		}
	}
	var body map[string]any
	if input {
		if err := json.NewDecoder(os.Stdin).Decode(&body); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	return f.api(method, path, body)
}

func (f *forge) percent(name string) int { n, _ := strconv.Atoi(f.faults[name]); return n }

func (f *forge) late(name string) time.Duration { d, _ := time.ParseDuration(f.faults[name]); return d }

// api answers one request, or does not.
func (f *forge) api(method, path string, body map[string]any) int {
	if code := f.faults["status"]; code != "" {
		return answer(code, map[string]any{"message": "as you wish"})
	}
	create := method == "POST" && strings.HasSuffix(path, "/issues")
	if create && f.faults["die"] == "before" && f.once("died") {
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL) // one that is gone already is what is wanted
		<-time.After(time.Hour)                         // it dies with its caller
	}
	if create && f.percent("meet") > 0 {
		f.meet(f.percent("meet"))
	}
	f.open()
	f.Calls++
	dice := rand.New(rand.NewPCG(uint64(f.percent("seed")), uint64(f.Calls))).IntN(100)
	fail, lose := f.percent("fail"), f.percent("lose")
	if dice < fail {
		f.close()
		if dice%2 == 0 {
			return answer("502", nil)
		}
		fmt.Fprintln(os.Stderr, "error connecting to api.example")
		return 1
	}
	code, said := f.serve(method, path, body)
	f.close()
	if create && f.faults["die"] == "after" && f.once("died") {
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL) // one that is gone already is what is wanted
		<-time.After(time.Hour)                         // it dies with its caller
	}
	switch {
	case dice < fail+lose, create && f.faults["drop"] != "" && f.once("dropped"):
		fmt.Fprintln(os.Stderr, "unexpected EOF")
		return 1
	case dice < fail+lose+f.percent("hang"):
		<-time.After(time.Hour)
	}
	return answer(code, said)
}

// once is true for the first who asks.
func (f *forge) once(name string) bool {
	return os.Mkdir(filepath.Join(f.dir, name), 0o700) == nil
}

// meet waits for others, or until it is clear that they do not come.
func (f *forge) meet(n int) {
	for i := range n {
		if f.once(fmt.Sprint("met", i)) {
			break
		}
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(f.dir, fmt.Sprint("met", n-1))); err == nil {
			return
		}
	}
}

func answer(code string, said any) int {
	b, err := json.Marshal(said)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("HTTP/2.0 %s x\nContent-Type: application/json\r\nX-Ratelimit-Remaining: 4999\r\n\r\n%s", code, b)
	if code[0] != '2' {
		fmt.Fprintf(os.Stderr, "gh: HTTP %s\n", code)
		return 1
	}
	return 0
}

func (f *forge) open() {
	lock, err := os.OpenFile(filepath.Join(f.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	text, bad := os.ReadFile(filepath.Join(f.dir, "issues.json"))
	if bad == nil {
		err = errors.Join(err, json.Unmarshal(text, f))
	}
	f.must(err)
	f.lock = lock
}

func (f *forge) close() {
	b, err := json.Marshal(f)
	f.must(err)
	f.must(os.WriteFile(filepath.Join(f.dir, "new"), b, 0o600))
	f.must(os.Rename(filepath.Join(f.dir, "new"), filepath.Join(f.dir, "issues.json")))
	f.must(f.lock.Close())
}

func (f *forge) must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "the forge of the test:", err)
		os.Exit(3)
	}
}

// serve does what is asked.
func (f *forge) serve(method, path string, body map[string]any) (string, any) {
	at, query, _ := strings.Cut(path, "?")
	q, err := url.ParseQuery(query)
	f.must(err)
	if at == "search/issues" {
		_, words, _ := strings.Cut(q.Get("q"), `"`)
		return "200", map[string]any{"items": f.known(f.late("lag"), strings.TrimSuffix(words, `"`))}
	}
	parts := strings.Split(at, "/") // repos/OWNER/NAME/…
	if len(parts) < 4 || parts[0] != "repos" || parts[1] != "o" || parts[2] != "r" {
		return "404", map[string]any{"message": "Not Found"}
	}
	switch parts = parts[3:]; {
	case parts[0] == "labels" && len(parts) == 2:
		if slices.Contains(f.Labels, parts[1]) {
			return "200", map[string]any{"name": parts[1]}
		}
	case method == "GET" && len(parts) == 1:
		list, n := f.known(f.late("listlag"), ""), 100
		for i := range f.percent("blind") {
			if len(list) > 0 && f.once(fmt.Sprint("blind", i)) {
				list = list[:0]
			}
		}
		page, _ := strconv.Atoi(q.Get("page"))
		slices.Reverse(list)
		list = list[min(len(list), (page-1)*n):]
		return "200", list[:min(len(list), n)]
	case method == "POST" && len(parts) == 1:
		is := &forgeIssue{Number: len(f.Issues) + 1, State: "open", Title: body["title"].(string), Body: body["body"].(string), Created: time.Now()}
		is.URL = fmt.Sprintf("https://github.com/o/r/issues/%d", is.Number)
		for _, l := range body["labels"].([]any) {
			is.Labels = append(is.Labels, l.(string))
		}
		f.Issues = append(f.Issues, is)
		return "201", is
	case len(parts) > 1:
		if n, _ := strconv.Atoi(parts[1]); n > 0 && n <= len(f.Issues) {
			return f.one(f.Issues[n-1], method, len(parts) == 3, body)
		}
	}
	return "404", map[string]any{"message": "Not Found"}
}

// one is about an issue that is there.
func (f *forge) one(is *forgeIssue, method string, comments bool, body map[string]any) (string, any) {
	switch {
	case comments && method == "GET":
		return "200", is.Said
	case comments:
		is.Said = append(is.Said, forgeComment{body["body"].(string), time.Now()})
		return "201", map[string]any{"id": len(is.Said)}
	case method == "PATCH":
		is.State, is.Closed = body["state"].(string), nil
		if now := time.Now(); is.State == "closed" {
			is.Closed = &now
		}
	}
	return "200", is
}

// known are the issues that are old enough to be found.
func (f *forge) known(late time.Duration, word string) []*forgeIssue {
	list := []*forgeIssue{}
	for _, is := range f.Issues {
		if time.Since(is.Created) >= late && strings.Contains(is.Body, word) {
			list = append(list, is)
		}
	}
	return list
}

// play changes and shows what the file holds: play old N D, close N D (so long
// ago), label NAME, fill N (with others), show.
func (f *forge) play(args []string) int {
	f.open()
	defer f.close()
	if args[0] == "label" {
		f.Labels = append(f.Labels, args[1])
		return 0
	}
	if args[0] == "show" {
		out := bufio.NewWriter(os.Stdout)
		for _, is := range f.Issues {
			fmt.Fprintf(out, "#%d %s [%s] %s (%d comments)\n", is.Number, is.State, strings.Join(is.Labels, " "), is.Title, len(is.Said))
			for _, text := range append([]forgeComment{{Body: is.Body}}, is.Said...) {
				_, _ = io.WriteString(out, "  | "+strings.ReplaceAll(strings.TrimSpace(text.Body), "\n", "\n  | ")+"\n")
			}
		}
		f.must(out.Flush())
		return 0
	}
	n, err := strconv.Atoi(args[1])
	f.must(err)
	if args[0] == "fill" {
		for range n {
			f.Issues = append(f.Issues, &forgeIssue{Number: len(f.Issues) + 1, State: "open", Title: "another", Created: time.Now()})
		}
		return 0
	}
	ago, err := time.ParseDuration(args[2])
	f.must(err)
	is, at := f.Issues[n-1], time.Now().Add(-ago)
	switch args[0] {
	case "old":
		is.Created = at
	case "close":
		is.State, is.Closed = "closed", &at
	}
	return 0
}
