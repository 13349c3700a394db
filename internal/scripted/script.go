package scripted

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
)

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
	Deny       Kind = "deny"        // try this tool and be refused, unless it is allowed by name
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
	GoOn       Kind = "play"        // go on with what another script says for this start
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
	Reset      string `yaml:"reset"`       // from now
	Text       string `yaml:"text"`
	after      time.Duration
	reset      time.Duration
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
