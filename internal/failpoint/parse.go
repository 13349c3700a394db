//go:build failpoints && linux

package failpoint

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// action is what happens at an armed point; the list is closed.
type action string

const (
	actKill  action = "kill"
	actStop  action = "stop"
	actPanic action = "panic"
	actExit  action = "exit"
	actSleep action = "sleep"
)

// every is the nth of a point that acts at each hit.
const every = 0

type arm struct {
	name  string
	nth   int
	act   action
	code  int
	delay time.Duration
}

func parse(spec string) ([]arm, error) {
	if spec == "" {
		return nil, nil
	}
	var arms []arm
	for _, part := range strings.Split(spec, ",") {
		a, err := parseOne(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		arms = append(arms, a)
	}
	return arms, nil
}

func parseOne(part string) (arm, error) {
	name, rest, ok := strings.Cut(part, "=")
	count, act, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || name == "" {
		return arm{}, fmt.Errorf("want name=N:action")
	}
	a := arm{name: name, nth: every}
	if count != "*" {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return arm{}, fmt.Errorf("want a count from 1, or *")
		}
		a.nth = n
	}
	return a, a.setAction(act)
}

func (a *arm) setAction(text string) error {
	word, arg, has := strings.Cut(text, "(")
	if has {
		var closed bool
		if arg, closed = strings.CutSuffix(arg, ")"); !closed {
			return fmt.Errorf("want a closing bracket")
		}
	}
	a.act = action(word)
	var err error
	switch a.act {
	case actKill, actStop, actPanic:
		if has {
			return fmt.Errorf("%s takes no argument", word)
		}
		return nil
	case actExit:
		a.code, err = strconv.Atoi(arg)
		return err
	case actSleep:
		a.delay, err = time.ParseDuration(arg)
		return err
	}
	return fmt.Errorf("want kill, stop, panic, exit(code) or sleep(duration)")
}
