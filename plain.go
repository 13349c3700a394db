package belay

import "strings"

// Words are a failure in the words of its class, where those say more than its cause.
// The step is not named. Of a kind that only the recipe names there is nothing to say, and
// a class that was only guessed from text stands in front of no fact.
func (f *Failure) Words() string {
	if f.Rule == RuleDeclared {
		return Plain(f.Cause)
	}
	cause := Plain(f.Cause)
	if f.Kind == RecipeFailure && cause != f.Cause {
		return cause // the step that failed in it says why
	}
	if f.Kind == BashFailure && guessed(f.Level) {
		return cause
	}
	return meaning(f.Kind, f.Class) + cause
}

// guessed tells whether a class was given for words alone.
func guessed(l Level) bool { return l == LevelText || l == LevelUnknown }

// meaning is what a kind and a class of failures say in front of a cause.
func meaning(kind FailureKind, class Class) string {
	row := class.Row()
	switch kind {
	case RoutingGap, RecursionLimit:
		return "" // the cause says it whole
	case AgentTimeout:
		return ClassTimeout.Row().Words + ": "
	case HollowSuccess:
		if row.Named && class != ClassHollow {
			return row.Words + ": "
		}
		return ""
	case Infrastructure, BashFailure, RecipeFailure:
		if kind == BashFailure && row.Kind == Infrastructure {
			return "" // of a shell step, whose class was guessed
		}
		if row.Named {
			return row.Words + ": "
		}
		if kind == Infrastructure && class != ClassNone {
			return ClassInfrastructure.Row().Words + ": "
		}
	}
	return ""
}

// Plain is a text on record in the words of the classes: what failed below is told in
// it by the names of kinds and classes, as Failure.Error gives them.
func Plain(text string) string {
	for _, kind := range FailureKinds() {
		if !strings.Contains(text, string(kind)) {
			continue
		}
		words := func(class Class) string {
			if kind == RecipeFailure {
				return "" // what failed in it follows
			}
			return meaning(kind, class)
		}
		text = strings.ReplaceAll(text, string(kind)+": ", words(ClassNone))
		for _, class := range Classes() {
			f := Failure{Kind: kind, Class: class}
			if name := f.Name(); name != string(kind) {
				text = strings.ReplaceAll(text, name+": ", words(class))
			}
		}
	}
	return text
}
