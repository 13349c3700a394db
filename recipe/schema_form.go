package recipe

import "github.com/belay-run/belay"

// bounds are what a schema can tell about the value of a key beyond its type.
type bounds struct {
	text  textForm // of a text, or of the texts of a list
	names textForm // of the keys of a mapping
	most  int      // of a number
	zero  bool     // a duration may be 0
	must  bool     // there is a value: nothing is none
	one   bool     // of the keys of a mapping exactly one is there
}

// textForm is what a text looks like.
type textForm int

const (
	formFilled    textForm = iota // not empty
	formAny                       // any text, the empty one as well
	formName                      // the name of a recipe, for people
	formID                        // the id of a step
	formVar                       // the name of a variable
	formEnv                       // the name of a variable of the environment
	formRecipe                    // the name by which a recipe is looked up
	formCondition                 // an expression, without braces
	formFile                      // a file, from the step's directory on
	formPath                      // a place in JSON
	formList                      // the name of a list, or a place in a variable
	formAgent                     // the name of an agent, or a persona
	formRole                      // a role: a word, or custom:NAME
	formChoice                    // a choice of a question
	formThen                      // what it means that nobody answered
)

// schema is the form as a schema. A number, true and false are texts, too.
func (f textForm) schema() map[string]any {
	text := map[string]any{"type": []string{"string", "number", "boolean"}}
	switch f {
	case formAny:
		text["type"] = []string{"string", "number", "boolean", "null"}
		return text
	case formCondition:
		text["not"] = map[string]any{"type": "string", "pattern": `\{\{`}
	case formFile:
		text["not"] = map[string]any{"type": "string", "pattern": `^/|\{\{`}
	case formID, formVar, formEnv, formRecipe:
		text["maxLength"] = maxName
	case formChoice:
		text["maxLength"], text["not"] = maxName, map[string]any{"const": belay.TimeoutHold}
	case formThen:
		text["maxLength"], text["not"] = maxName, map[string]any{"const": belay.ChoiceApprove}
	case formFilled, formName, formPath, formList, formAgent, formRole:
	}
	text["pattern"] = f.pattern()
	return text
}

func (f textForm) pattern() string {
	switch f {
	case formName:
		return `^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$`
	case formID, formChoice, formThen:
		return `^[A-Za-z0-9_][A-Za-z0-9_.-]*$`
	case formVar:
		return `^[A-Za-z_][A-Za-z0-9_-]*$`
	case formList:
		return `^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+|\[ *(-?[0-9]+|'[^'{}|]*'|"[^"{}|]*") *\])*( *\| *lines)? *$`
	case formAgent:
		return `^[A-Za-z0-9_-]+(:[A-Za-z0-9_-]+){0,2}$`
	case formRole:
		return rolePattern()
	case formEnv:
		return `^[A-Za-z_][A-Za-z0-9_]*$`
	case formRecipe:
		return `^[A-Za-z0-9_-]+$`
	case formPath:
		return `^(\[[0-9]{1,9}\]|[^.\[\]{}"'\s]+)(\[[0-9]{1,9}\]|\.[^.\[\]{}"'\s]+)*$`
	case formFilled, formAny, formCondition, formFile:
	}
	return `\S`
}

// duration is seconds, or a text such as 5m, of at most a year.
func duration(zero bool) map[string]any {
	number := map[string]any{"type": "integer", "minimum": 1, "maximum": int(maxDuration.Seconds())}
	text := map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	if zero {
		number["minimum"] = 0
	} else {
		text["not"] = map[string]any{"pattern": `^(0+(\.0+)?(ns|us|µs|ms|s|m|h))+$`}
	}
	return map[string]any{"anyOf": []any{number, text}}
}

// stepRules are what the keys of a step, or of the defaults, mean for each other.
func stepRules() []any {
	return append(sharedRules(), notBoth("parallel_group", "needs"), notBoth("foreach", "outputs"), notBoth("foreach", "repeat"), kinds())
}

// sharedRules hold for the defaults of all steps as well.
func sharedRules() []any {
	yes, no := map[string]any{}, map[string]any{}
	for i := range stepKeys.keys {
		k := &stepKeys.keys[i]
		if k.name == "optional" || k.same == "optional" {
			yes[k.name], no[k.name] = map[string]any{"const": k.name != "fatal"}, map[string]any{"const": k.name == "fatal"}
		}
	}
	agree := map[string]any{
		"description": "All spellings of optional say the same.",
		"anyOf":       []any{map[string]any{"properties": yes}, map[string]any{"properties": no}},
	}
	return []any{notBoth("timeout", "timeout_seconds"), agree}
}

func notBoth(a, b string) map[string]any {
	return map[string]any{
		"description": a + " and " + b + " cannot be combined.",
		"not":         map[string]any{"required": []string{a, b}},
	}
}

// kinds tells which keys go with which type of step. The type is told, or
// follows from the keys in the same way as for the parser.
func kinds() map[string]any {
	has := func(key string) map[string]any { return map[string]any{"required": []string{key}} }
	rest := only(kindRows[0])
	for _, row := range kindRows[1:] {
		told := has("type")
		told["properties"] = map[string]any{"type": map[string]any{"const": string(row.typ)}}
		var marks []any
		for _, m := range row.marks {
			marked := has(m.key)
			if m.unless != "" {
				marked["not"] = has(m.unless)
			}
			marks = append(marks, marked)
		}
		untold := map[string]any{"allOf": []any{map[string]any{"not": has("type")}, map[string]any{"anyOf": marks}}}
		rest = map[string]any{"if": map[string]any{"anyOf": []any{told, untold}}, "then": only(row), "else": rest}
	}
	return rest
}

// only is a step of one kind: it has the key that makes it one, and none of
// those that do not apply.
func only(row kindRow) map[string]any {
	never := map[string]any{}
	for i := range stepKeys.keys {
		if k := &stepKeys.keys[i]; k.read != nil && k.on&row.on == 0 {
			never[k.name] = false
		}
	}
	return map[string]any{"required": []string{row.key}, "properties": never}
}
