package scripted

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay"
	"go.yaml.in/yaml/v3"
)

// readAct checks one act and reads what belongs to it.
func readAct(key, n *yaml.Node) (act, error) {
	a := act{kind: Kind(key.Value), line: key.Line}
	switch a.kind {
	case Say, Run, Commit, Deny, Refuse, Hollow, GoOn:
		return a, a.readText(n)
	case Write, Append:
		return a, a.readFile(n)
	case Answer:
		return a, a.readAnswer(n)
	case Sleep:
		d, err := duration(n, n.Value)
		a.wait = d
		return a, err
	case Hang, Truncate, IgnoreTerm, NoFinal:
		if n.Value != "true" {
			return a, bad(n, "%s is either there and true, or not there", a.kind)
		}
		return a, nil
	case Flood, Garbage:
		size, err := bytesOf(n)
		a.size = size
		return a, err
	case Exit, Retry:
		count, err := strconv.Atoi(n.Value)
		if err != nil || count < 0 || count > 255 {
			return a, bad(n, "%s wants a number from 0 to 255, not %q", a.kind, n.Value)
		}
		a.n = count
		return a, nil
	case Signal:
		if _, ok := signals()[strings.TrimPrefix(n.Value, "SIG")]; !ok {
			return a, bad(n, "no signal %q", n.Value)
		}
		a.text = strings.TrimPrefix(n.Value, "SIG")
		return a, nil
	case Fork:
		return a, a.readFork(n)
	case Tokens:
		return a, strict(n, &a.usage, "input", "output", "cost")
	case Error:
		return a, a.readFault(n)
	}
	return a, bad(key, "unknown act %q", key.Value)
}

func (a *act) readText(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return bad(n, "%s wants a text", a.kind)
	}
	a.text = n.Value
	return nil
}

func (a *act) readFile(n *yaml.Node) error {
	if err := strict(n, &a.file, "path", "text"); err != nil {
		return err
	}
	if a.file.Path == "" {
		return bad(n, "%s wants a path", a.kind)
	}
	return nil
}

// readAnswer takes a text as it is, and any other value as JSON.
func (a *act) readAnswer(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		a.text = n.Value
		return nil
	}
	if err := n.Decode(&a.json); err != nil {
		return bad(n, "the answer is no value")
	}
	return nil
}

func (a *act) readFork(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		a.fork.How = n.Value
	} else if err := strict(n, &a.fork, "how", "pid"); err != nil {
		return err
	}
	if !slices.Contains([]string{"setsid", "nohup", "double", "daemon"}, a.fork.How) {
		return bad(n, "fork wants setsid, nohup, double or daemon, not %q", a.fork.How)
	}
	return nil
}

func (a *act) readFault(n *yaml.Node) error {
	if err := strict(n, &a.fault, "class", "status", "retry_after", "reset", "text"); err != nil {
		return err
	}
	if a.fault.Class != "" && !slices.Contains(belay.Classes(), belay.Class(a.fault.Class)) {
		return bad(n, "no class %q", a.fault.Class)
	}
	var err error
	if a.fault.RetryAfter != "" {
		a.fault.after, err = duration(n, a.fault.RetryAfter)
	}
	if err == nil && a.fault.Reset != "" {
		a.fault.reset, err = duration(n, a.fault.Reset)
	}
	return err
}

// strict reads a mapping and refuses keys that it does not know.
func strict(n *yaml.Node, into any, keys ...string) error {
	if n.Kind != yaml.MappingNode {
		return bad(n, "a mapping with %s is wanted", strings.Join(keys, ", "))
	}
	for i := 0; i < len(n.Content); i += 2 {
		if !slices.Contains(keys, n.Content[i].Value) {
			return bad(n.Content[i], "unknown key %q: %s are known", n.Content[i].Value, strings.Join(keys, ", "))
		}
	}
	if err := n.Decode(into); err != nil {
		return bad(n, "a value is not of its kind")
	}
	return nil
}

// duration reads "2s", or a number of seconds.
func duration(n *yaml.Node, text string) (time.Duration, error) {
	if s, err := strconv.ParseFloat(text, 64); err == nil && s >= 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, bad(n, "%q is no duration", text)
	}
	return d, nil
}

// bytesOf reads a size: 1000, 64K, 256M, 1G, also with an i and a B behind.
func bytesOf(n *yaml.Node) (int64, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.ReplaceAll(n.Value, " ", "")), "B"), "I")
	unit := int64(1)
	for i, u := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(text, u); ok {
			text, unit = rest, int64(1)<<(10*(i+1))
			break
		}
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 || v > 1<<20*1<<20/unit {
		return 0, bad(n, "%q is no size", n.Value)
	}
	return v * unit, nil
}

func signals() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "QUIT": syscall.SIGQUIT, "ABRT": syscall.SIGABRT,
		"KILL": syscall.SIGKILL, "SEGV": syscall.SIGSEGV, "PIPE": syscall.SIGPIPE, "TERM": syscall.SIGTERM,
	}
}
