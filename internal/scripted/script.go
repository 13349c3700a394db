package scripted

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep the parts of a script nest.
const maxDepth = 8

// Kind is the closed list of acts.
type Kind string

const (
	Say        Kind = "say"         // speak
	Write      Kind = "write"       // a file: {path, text}
	Append     Kind = "append"      // to a file: {path, text}
	Run        Kind = "run"         // a command, by bash
	Commit     Kind = "commit"      // all there is, with this message
	Answer     Kind = "answer"      // the final text, or a value as JSON
	Sleep      Kind = "sleep"       // for a while
	Hang       Kind = "hang"        // for ever
	Flood      Kind = "flood"       // print so many bytes
	Exit       Kind = "exit"        // at once, with this code
	Signal     Kind = "signal"      // die of it
	Deny       Kind = "deny"        // try this tool and be refused
	Refuse     Kind = "refuse"      // say no, and end
	Truncate   Kind = "truncate"    // end in the middle of the answer
	Hollow     Kind = "hollow"      // claim this, having done nothing
	IgnoreTerm Kind = "ignore_term" // from here on
	Fork       Kind = "fork"        // leave a child behind: setsid, nohup, double, daemon
	Tokens     Kind = "tokens"      // {input, output, cost}
	Error      Kind = "error"       // end with it: {class, status, retry_after, text}
	Retry      Kind = "retry"       // say so many times that the model is called again
	Garbage    Kind = "garbage"     // print so many bytes that mean nothing
	NoFinal    Kind = "no_final"    // end without the final record
)

// act is one thing to do.
type act struct {
	kind Kind
	line int

	text  string // of a text, a command, a name
	file  fileSpec
	fork  forkSpec
	usage usageSpec
	fault faultSpec
	size  int64
	n     int
	wait  time.Duration
	json  any // an answer that is a value
}

type fileSpec struct {
	Path string `yaml:"path"`
	Text string `yaml:"text"`
}

type forkSpec struct {
	How string `yaml:"how"`
	Pid string `yaml:"pid"` // file for its pid
}

type usageSpec struct {
	Input  int64   `yaml:"input"`
	Output int64   `yaml:"output"`
	Cost   float64 `yaml:"cost"` // dollars
}

type faultSpec struct {
	Class      string `yaml:"class"`
	Status     int    `yaml:"status"`
	RetryAfter string `yaml:"retry_after"` //nolint:tagliatelle // snake_case, as in recipes
	Text       string `yaml:"text"`
	after      time.Duration
}

// Bad says what is wrong with a script, and where.
type Bad struct {
	Line int
	Text string
}

func (b *Bad) Error() string { return fmt.Sprintf("script line %d: %s", b.Line, b.Text) }

func bad(n *yaml.Node, format string, args ...any) error {
	return &Bad{Line: n.Line, Text: fmt.Sprintf(format, args...)}
}

// cue is what a script is chosen by.
type cue struct {
	step   string // path of the step
	start  int    // how many times it was started before
	prompt string
}

// choose finds the acts for a start and checks all others on the way: a script
// with a mistake is refused before it does anything.
func choose(script []byte, c cue) ([]act, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(script, &doc); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if len(doc.Content) == 0 {
		return nil, &Bad{Line: 1, Text: "it is empty"}
	}
	return part(doc.Content[0], c, 0)
}

// part is a list of acts, or a mapping that chooses one.
func part(n *yaml.Node, c cue, depth int) ([]act, error) {
	if depth > maxDepth {
		return nil, bad(n, "it nests deeper than %d", maxDepth)
	}
	if n.Kind == yaml.SequenceNode {
		return acts(n)
	}
	if n.Kind != yaml.MappingNode {
		return nil, bad(n, "a list of acts, or one of acts, attempts, steps, cases is wanted")
	}
	var key, value *yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		switch name := n.Content[i].Value; name {
		case "when":
		case "acts", "attempts", "steps", "cases":
			if key != nil {
				return nil, bad(n.Content[i], "only one of acts, attempts, steps, cases")
			}
			key, value = n.Content[i], n.Content[i+1]
		default:
			return nil, bad(n.Content[i], "unknown key %q: acts, attempts, steps, cases or when is wanted", name)
		}
	}
	if key == nil {
		return nil, bad(n, "one of acts, attempts, steps, cases is wanted")
	}
	value, err := pick(key.Value, value, c)
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, bad(key, "nothing in %s fits this start", key.Value)
	}
	return part(value, c, depth+1)
}

// pick chooses one of the parts under a key and checks the others.
func pick(key string, n *yaml.Node, c cue) (*yaml.Node, error) {
	switch key {
	case "attempts":
		if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
			return nil, bad(n, "attempts is a list of lists of acts")
		}
		for _, other := range n.Content {
			if other.Kind != yaml.SequenceNode && other.Kind != yaml.MappingNode {
				return nil, bad(other, "attempts is a list of lists of acts")
			}
			if other.Kind == yaml.SequenceNode {
				if _, err := acts(other); err != nil {
					return nil, err
				}
			}
		}
		return n.Content[min(c.start, len(n.Content)-1)], nil
	case "steps":
		return pickStep(n, c)
	case "cases":
		return pickCase(n, c)
	}
	if n.Kind != yaml.SequenceNode {
		return nil, bad(n, "acts is a list")
	}
	return n, nil
}

func pickStep(n *yaml.Node, c cue) (*yaml.Node, error) {
	if n.Kind != yaml.MappingNode {
		return nil, bad(n, "steps is a mapping from the name of a step to its acts")
	}
	name := c.step[strings.LastIndexByte(c.step, '/')+1:]
	var exact, named, rest *yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if value.Kind == yaml.SequenceNode {
			if _, err := acts(value); err != nil {
				return nil, err
			}
		}
		switch key {
		case c.step:
			exact = value
		case name:
			named = value
		case "*":
			rest = value
		}
	}
	for _, chosen := range []*yaml.Node{exact, named, rest} {
		if chosen != nil {
			return chosen, nil
		}
	}
	return nil, nil
}

func pickCase(n *yaml.Node, c cue) (*yaml.Node, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, bad(n, "cases is a list of mappings with when and acts")
	}
	for _, one := range n.Content {
		if one.Kind != yaml.MappingNode {
			return nil, bad(one, "cases is a list of mappings with when and acts")
		}
		fits := true
		for i := 0; i < len(one.Content); i += 2 {
			if one.Content[i].Value == "when" {
				fits = strings.Contains(c.prompt, one.Content[i+1].Value)
			}
		}
		if fits {
			return one, nil
		}
	}
	return nil, nil
}

// acts reads a list of acts.
func acts(n *yaml.Node) ([]act, error) {
	var list []act
	for _, one := range n.Content {
		if one.Kind == yaml.ScalarNode { // "hang" alone means "hang: true"
			one = &yaml.Node{Kind: yaml.MappingNode, Line: one.Line, Content: []*yaml.Node{one, {Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true", Line: one.Line}}}
		}
		if one.Kind != yaml.MappingNode || len(one.Content) != 2 {
			return nil, bad(one, "an act is one name with what belongs to it")
		}
		a, err := readAct(one.Content[0], one.Content[1])
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
