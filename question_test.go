package belay_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/event"
)

// topics are all that there are: the closed list as it is written.
func topics(t *testing.T) []belay.Topic {
	t.Helper()
	var list []belay.Topic
	for _, c := range readWords(t).consts["Topic"] {
		list = append(list, belay.Topic(c.value))
	}
	if len(list) < 10 {
		t.Fatalf("only %d topics found: the test looks at too little", len(list))
	}
	return list
}

// asked is the key of a question about a topic.
func asked(topic belay.Topic) belay.Key { return belay.Key("k3f9q:build.1").About(topic) }

// questionOf is a question about a topic with something in every field.
func questionOf(t *testing.T, topic belay.Topic) effect.Question {
	t.Helper()
	var c effect.Ask
	if err := json.Unmarshal(fmt.Appendf(nil, `{"key":%q,"question":{}}`, asked(topic)), &c); err != nil {
		t.Fatalf("topic %s has no question: %v", topic, err)
	}
	return populated(c.Question).(effect.Question)
}

// answerTo is the same of its answer.
func answerTo(t *testing.T, topic belay.Topic) effect.Answer {
	t.Helper()
	var e event.AnswerGiven
	if err := json.Unmarshal(fmt.Appendf(nil, `{"key":%q,"answer":{}}`, asked(topic)), &e); err != nil {
		t.Fatalf("topic %s has no answer: %v", topic, err)
	}
	return populated(e.Answer).(effect.Answer)
}

// again sends a value through JSON.
func again[T any](t *testing.T, v T) T {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return back
}

// A driver may be in another process than the brain: every question and every
// answer goes through JSON and comes out as it was.
func TestQuestionsAndAnswersAreWholeInJSON(t *testing.T) {
	t.Parallel()
	questions, answers := map[reflect.Type]bool{}, map[reflect.Type]bool{}
	for _, topic := range topics(t) {
		c := effect.Ask{Key: asked(topic), Question: questionOf(t, topic)}
		if got := again(t, c); !reflect.DeepEqual(got, c) {
			t.Errorf("%+v\ncomes out as %+v", c, got)
		}
		e := event.AnswerGiven{Key: asked(topic), Answer: answerTo(t, topic)}
		if got := again(t, e); !reflect.DeepEqual(got, e) {
			t.Errorf("%+v\ncomes out as %+v", e, got)
		}
		if !e.Fits() {
			t.Errorf("%T does not answer %s", e.Answer, topic)
		}
		questions[reflect.TypeOf(c.Question)], answers[reflect.TypeOf(e.Answer)] = true, true
	}
	if n, made := len(topics(t)), len(kindsOf(t, "effect/question.go", "asks")); len(questions) != n || made != n {
		t.Errorf("%d topics, %d kinds of questions, and JSON makes %d of them", n, made, len(questions))
	}
	if n, made := len(topics(t)), len(kindsOf(t, "effect/answer.go", "answers")); len(answers) != n || made != n {
		t.Errorf("%d topics, %d kinds of answers, and JSON makes %d of them", n, made, len(answers))
	}
}

// An item that gave an object without values is not one that gave nothing.
func TestAPieceWithoutValuesIsNoNull(t *testing.T) {
	t.Parallel()
	c := effect.Ask{Key: asked(belay.TopicList), Question: effect.AskList{Pieces: []effect.Piece{{Object: map[string]belay.Value{}}, {}}}}
	if got := again(t, c); !reflect.DeepEqual(got, c) {
		t.Errorf("%+v\ncomes out as %+v", c, got)
	}
}

// What nobody can have asked is refused, and so is an answer of another kind.
func TestAnswersOfAnotherKind(t *testing.T) {
	t.Parallel()
	var e event.AnswerGiven
	var c effect.Ask
	for _, key := range []string{"", "x", "r:a.1", "r:a.1?other"} {
		if json.Unmarshal(fmt.Appendf(nil, `{"key":%q,"answer":{}}`, key), &e) == nil {
			t.Errorf("an answer to %q is read as %T", key, e.Answer)
		}
		if json.Unmarshal(fmt.Appendf(nil, `{"key":%q,"question":{}}`, key), &c) == nil {
			t.Errorf("question %q is read as %T", key, c.Question)
		}
	}
	for _, e := range []event.AnswerGiven{{Key: "r:a.1?agent"}, {Key: "r:a.1?agent", Answer: effect.AnswerStep{OK: true}}} {
		if e.Fits() {
			t.Errorf("%s may be answered with %T", e.Key, e.Answer)
		}
	}
}
