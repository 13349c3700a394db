package main

import (
	"fmt"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/recovery"
	"github.com/belay-run/belay/recovery/classic"
	"github.com/belay-run/belay/verdict"
)

// decide measures what a failure costs before anything is done about it: its
// class, and the recovery under both policies, for a step with a long history.
func (b *bench) decide() error {
	const texts, n = 300, 20000
	ready, err := timed(func() error { verdict.NewClassifier(); return nil })
	if err != nil {
		return err
	}
	rules := verdict.NewClassifier()
	text := failing()
	class := each(texts, func(i int) {
		rules.Classify(verdict.Facts{Exit: 1 + i%2, Text: text})
	})
	x := situation()
	belayed := each(n, func(int) { recovery.Choose(x) })
	classic := each(n, func(int) { classic.Choose(x, classic.DefaultMaxRetries) })
	row("the rules about failures, made ready once", "%.3f ms", ms(ready))
	row("the class of a failure with 40 lines of text", "%.3f ms", class)
	row("a recovery, belay", "%.4f ms", belayed)
	row("a recovery, classic", "%.4f ms", classic)
	b.goal("class and recovery from a failure, ms", class+belayed, 0.5)
	return nil
}

// each is the mean time of a processor for n calls, in milliseconds.
func each(n int, do func(int)) float64 {
	begin := processor()
	for i := range n {
		do(i)
	}
	return ms(processor()-begin) / float64(n)
}

// failing is what a compiler and a test runner leave; no rule of a service holds
// for it.
func failing() string {
	text := ""
	for i := range 38 {
		text += fmt.Sprintf("src/part%d.go:%d:3: something is not as it should be\n", i, i)
	}
	return text + "--- FAIL: TestThat (0.00s)\nFAIL\n"
}

// situation is an agent's step that has had most of its recoveries.
func situation() recovery.Situation {
	x := recovery.Situation{
		Failure: belay.Failure{Kind: belay.Infrastructure, Class: belay.ClassTransient, Level: belay.LevelTyped, Move: belay.ActRetry, Print: "p", Cause: "overloaded"},
		Type:    belay.TypeAgent, Agents: true, Agent: "one", Others: []string{"two", "three"}, MaxReplans: 100,
		Declared: recovery.Policy{MaxAttempts: 1}, History: recovery.History{Key: "r:a.7", Failed: 7}, Now: time.Now(), Fallback: true,
	}
	for i := range 6 {
		x.Past = append(x.Past, recovery.Past{Act: belay.ActRetry, Class: belay.ClassTransient, Print: fmt.Sprint("p", i), Agent: "one"})
	}
	return x
}
