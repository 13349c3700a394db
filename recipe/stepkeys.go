package recipe

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/task"
)

// stepKeys are the keys of a step, in the order in which they are best written.
var stepKeys = newTable(
	map[string]string{
		"allow_failure": "optional", "check": "verify", "cmd": "command", "cwd": "working_dir", "depends_on": "needs", "dir": "working_dir",
		"environment": "env", "if": "condition", "ignore_errors": "optional", "max_retries": "retry", "name": "id", "on_error": "on_failure",
		"retries": "retry", "run": "command", "script": "command", "sub_context": "context", "when": "condition", "workdir": "working_dir", "working_directory": "working_dir",
		"loop": "foreach", "for_each": "foreach", "matrix": "foreach", "items": "foreach", "parallel": "parallel_group",
		"tags": "when_tags", "uses": "recipe", "label": "title", "inputs": "with", "args": "with", "function": "call",
		"until": "repeat", "rounds": "repeat", "while": "repeat",
	},
	slices.Concat(whatKeys, whenKeys, resultKeys, otherKeys)...,
).cured(stepCures)

// whatKeys say what a step is and does.
var whatKeys = []key[draft]{
	{name: "id", bound: bounds{text: formID}, on: onAll, own: true, types: []string{typeText}, read: readID, doc: "The step's name in this recipe; it is unique."},
	{name: "title", bound: bounds{text: formAny}, on: onAll, own: true, types: []string{typeText}, doc: "A few words for people.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { p.text(k, v) }},
	{name: "description", bound: bounds{text: formAny}, on: onAll, own: true, types: []string{typeText}, doc: "What the step is for.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { p.text(k, v) }},
	{name: "type", on: onAll, own: true, types: []string{typeText}, enum: onAll.words(),
		def:  "approve with approve:, call with call:, recipe with recipe:, agent with agent: or with prompt: and no command:, else bash",
		doc:  "Which hand does it.",
		read: func(*parser, *draft, *yaml.Node, *yaml.Node) {}}, // read before all others
	{name: "needs", bound: bounds{must: true}, on: onAll, own: true, types: []string{typeTexts}, form: "[id, id]", def: "the step listed before it",
		doc: "The steps that come first; [] starts at once.", read: readNeeds},
	{name: "parallel_group", on: onAll, own: true, types: []string{typeText}, form: "NAME", read: readGroup,
		doc: "Steps listed next to each other with the same name run at the same time; the next step waits for all of them."},
	{name: "when_tags", on: onAll, types: []string{typeTexts}, form: "[fast, ci]",
		doc:  "With --include-tags the step is left out unless one of them is included; with --exclude-tags it is left out when one of them is. Without these flags all steps run.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Tags = p.texts(k, v) }},
	{name: "condition", bound: bounds{text: formCondition}, on: onAll, types: []string{typeText}, form: "EXPR", doc: "The step is left out unless this is true.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Condition = p.condition(k, v) }},
	{name: "foreach", bound: bounds{text: formList}, on: onAll, own: true, types: []string{typeText, typeItems}, form: "NAME or [one, two]", read: readForeach,
		doc: "A list (`[one, two]`, taken as it is written), or a variable that holds one, or a place in one (`plan.items`), or the lines of a text (`files | lines`; lines with only blanks are left out), of at most 1,000 items and 1 MiB: the step runs once for each. With `optional: true` an item that fails does not stop the others. Items that are objects with an `id` (a text or a number) may name others in `needs: [ids]`, or `needs: id`: an id that no item has fails the step, and such an item starts when those are done and merged, and not at all when one of them failed."},
	{name: "as", bound: bounds{text: formVar}, on: onAll, own: true, types: []string{typeText}, form: "NAME", def: "item", read: readAs, doc: "What the item of foreach is called."},
	{name: "max_parallel", bound: bounds{most: maxCount}, on: onAll, types: []string{typeCount}, doc: "How many items of foreach run at the same time.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.MaxItems, d.maxPos = p.count(k, v, maxCount), posOf(k) }},
	{name: "repeat", bound: bounds{must: true}, on: onWork, own: true, types: []string{typeMapping}, form: "{max: 3, until: EXPR}", read: readRepeat, inner: inner(repeatKeys),
		doc: "The step is done in rounds, one after the other in the same tree, until a condition holds. In each, `round` is its number and `last` is what the round before gave: its outputs by their names (`last.output` is what a bash or agent step printed), `ok`, `status` and `failure`; in round 1 it is empty. A round that fails is followed by the next; what only a person or the machine can fix ends the rounds. They end without success after `max` rounds, or when a round gives the same as the one before and leaves the same files."},
	{name: "command", on: onBash, own: true, types: []string{typeScript}, doc: "The script of a bash step.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Script = p.script(k, v) }},
	{name: "agent", bound: bounds{text: formAgent}, on: onAgent, types: []string{typeText}, form: "NAME or namespace:name", def: "that of --agent, of the settings, or the first one found", read: readAgent,
		doc: "Who does an agent step: the name of an agent (`claude`), or a persona (`core:reviewer`, `core:security:reviewer`) that any agent takes on."},
	{name: "prompt", on: onAgent, own: true, types: []string{typeText}, doc: "What an agent is asked; {{names}} are filled in.", read: readPrompt},
	{name: "recipe", bound: bounds{text: formRecipe}, on: onRecipe, own: true, types: []string{typeText}, form: "NAME", read: readRecipeName, doc: "The sub-recipe of a recipe step."},
	{name: "context", bound: bounds{names: formVar}, on: onRecipe, own: true, types: []string{typeMapping}, form: "{name: value}", read: readArgs,
		why: "only a sub-recipe is handed a context; a script reads the recipe's",
		doc: "Values for the sub-recipe, over those of this recipe; {{names}} in texts are filled in."},
	{name: "call", on: onCall, own: true, types: []string{typeText}, enum: task.Names(), read: readCall,
		doc: "The function of a call step: one of those that Belay ships. It looks at its inputs and at nothing else, and no process is started for it. `belay calls` lists them."},
	{name: "with", bound: bounds{names: formVar}, on: onCall, own: true, types: []string{typeMapping}, form: "{name: value}", read: readWith,
		why: "only a function has inputs; a sub-recipe is handed values by context:",
		doc: "The inputs of the function. {{names}} in texts are filled in; a text that is one placeholder and nothing else stands for the value itself, so that a list stays a list."},
	{name: "approve", bound: bounds{must: true}, on: onApprove, own: true, types: []string{typeMapping}, form: "{prompt: TEXT, choices: [approve, reject], who: [NAME], timeout: 1h, on_timeout: hold}", read: readApprove, inner: inner(approveKeys),
		why: "a step asks or works: put the question into a step of its own, before this one",
		doc: "A person is asked, and nothing is started. A step that is approved is done, and its `output` is the choice; one that is rejected has failed. On a terminal the question is asked there, otherwise it waits in `belay inbox`; while it waits it takes no slot. No agent can answer it."},
	{name: "model", bound: bounds{text: formAny}, on: onAgent, types: []string{typeText}, doc: "Which model an agent uses.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Model = p.text(k, v) }},
	{name: "mode", bound: bounds{text: formAny}, on: onAgent, types: []string{typeText}, doc: "Accepted and without effect.",
		idle: "leave it out; say in the prompt how the agent is to work",
		read: func(p *parser, d *draft, k, v *yaml.Node) { p.text(k, v) }},
}

// whenKeys say where and how long a step runs.
var whenKeys = []key[draft]{
	{name: "working_dir", on: onWork, types: []string{typeText}, form: "PATH", def: "the run's directory", read: readDir,
		doc: "Where it runs, from the run's directory on; {{names}} are filled in."},
	{name: "shell", on: onBash, types: []string{typeText}, enum: []string{"strict", "plain"}, def: "that of the recipe", doc: "How the script runs.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Shell = p.shell(k, v) }},
	{name: "env", bound: bounds{names: formEnv}, on: onBash | onAgent, types: []string{typeMapping}, form: "{NAME: text}", why: "a sub-recipe is handed values by context:",
		doc: "More variables of the environment, as they are written.", read: readEnv},
	{name: "timeout", on: onWork, types: []string{typeDuration}, form: `90 or "5m"`, read: readTimeout, doc: "How long an attempt may take; a number is seconds."},
	{name: "timeout_seconds", on: onWork, same: "timeout", types: []string{typeDuration}, read: readTimeout, doc: "Another spelling of timeout."},
	{name: "retry", bound: bounds{must: true, most: maxAttempts}, on: onWork, types: []string{typeCount, typeMapping}, form: "N or {max_attempts: N, backoff: 500ms}", def: "1", read: readRetry,
		inner: inner(retryKeys), doc: "How often the step is started in all when it fails."},
	{name: "once", on: onBash | onAgent, types: []string{typeBool}, def: "false", why: "a child run is never repeated on a guess; its own steps say once",
		doc:  "Never run it twice on a guess: an outcome that is not known is settled by verify, else by a person. A lost connection leaves it unknown where there is a verify.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Once = p.boolean(k, v) }},
	{name: "verify", on: onWork, types: []string{typeScript}, read: readVerify,
		doc: "A script that tells by exit 0 that the work is there; in the same place as the step, after it, and before it is started again."},
	{name: "optional", on: onAll, types: []string{typeBool}, def: "false", doc: "Its failure does not fail the run.", read: readOptional},
	{name: "continue_on_error", on: onAll, same: "optional", types: []string{typeBool}, doc: "Another spelling of optional.", read: readOptional},
	{name: "nonfatal", on: onAll, same: "optional", types: []string{typeBool}, doc: "Another spelling of optional.", read: readOptional},
	{name: "fatal", on: onAll, same: "optional", types: []string{typeBool}, doc: "The opposite of optional.", read: readOptional},
	{name: "failure", on: onBash, types: []string{typeText}, enum: failureWords(), doc: "Which kind of failure it stands for when the script fails.", read: readFailure},
	{name: "on_failure", on: onDone, types: []string{typeText}, enum: []string{"fail", "escalate", "cure"}, def: "fail", doc: "Whether a person is asked when it stays failed. With `cure`, a step that is optional, and all in it, is held where only a person can lift the cause: a login that is missing, an account that is used up, a full disk.",
		read: func(p *parser, d *draft, k, v *yaml.Node) {
			word := p.choice(k, v, "fail", "escalate", "cure")
			d.Escalate, d.Cure = word == "escalate", word == "cure"
		}},
}

// resultKeys say what becomes of what a step prints or leaves behind.
var resultKeys = []key[draft]{
	{name: "output", bound: bounds{text: formVar}, on: onAll, own: true, types: []string{typeText}, form: "NAME", doc: "The variable that gets what the step prints; of a call step what the function gives, of an approve step the choice, of a recipe step an object of what its steps gave, of a foreach step the list of the results in the order of the items, at most 16 MiB, with null for an item that failed or was left out; of a repeat step what the last round gave, with `round`, `rounds` (what each gave) and `stopped`.", read: readOutput},
	{name: "parse_json", on: onWork, types: []string{typeBool}, def: "false", doc: "Look for JSON in what the step prints; without any the text stays and the step counts as degraded.",
		read: readParseJSON},
	{name: "parse_json_required", on: onWork, types: []string{typeBool}, def: "false", doc: "As parse_json, but without any JSON the step fails.", read: readParseJSON},
	{name: "json_keys", bound: bounds{must: true, text: formAny}, on: onAgent, types: []string{typeTexts}, form: "[findings]", read: readJSONKeys,
		why: "only an agent can be asked once more", doc: "Keys that the JSON of an agent's answer must have, together with parse_json or parse_json_required. An answer without them, with null or an empty text in one, with one of them twice, or with several objects that differ, is asked for once more, and then counts as one without JSON: what comes first is not taken for the answer."},
	{name: "failed", bound: bounds{text: formVar}, on: onAll, own: true, types: []string{typeText}, form: "NAME", doc: "The variable that says why the step failed, where it is `optional` and did: an object with `kind`, `class`, `rule` (what gave it its class), `text` and, where an agent had begun what failed, `agent` (true). It is not set when the step did not fail.",
		read: func(p *parser, d *draft, k, v *yaml.Node) {
			if name, ok := p.filled(k, v); ok && p.variable(v, name, varForm) {
				d.Failed = name
				p.sets(v, name)
			}
		}},
	{name: "outputs", bound: bounds{must: true, names: formVar}, on: onBash | onAgent, own: true, types: []string{typeMapping}, form: "{name: {file: PATH}, other: {json: PATH}}", read: readOutputs,
		why: "the variables of a sub-recipe are those of its caller", doc: "More results: a file that the step wrote, inside of its tree also after links are followed, or a place in the JSON that it printed. Not together with foreach, where output is the list of the results."},
	{name: "expect", on: onAgent | onRecipe, later: onBash, types: []string{typeText}, enum: expectations(), def: "change; answer where somebody reads it or the agent may only read; nothing on a recipe step",
		doc:  "What an agent must leave behind; on a recipe step, the agent that finishes it when the sub-recipe has failed.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Expect = p.choice(k, v, expectations()...) }},
}

// otherKeys concern agents and recoveries from a failure, or wait for their version.
var otherKeys = []key[draft]{
	{name: "auto_stage", on: onAgent, types: []string{typeBool}, def: "false", doc: "Accepted and without effect: what an agent changed is left as it is, and nothing is staged.",
		idle: "nothing is staged for you; write a step with command: git add -A", quiet: "false",
		read: func(p *parser, d *draft, k, v *yaml.Node) { p.boolean(k, v) }},
	{name: "role", bound: bounds{text: formRole}, on: onAgent, types: []string{typeText}, form: "coder or custom:NAME", read: readRole,
		doc: "What the agent is there for: orchestrator, spec, coder, tester, reviewer, architect, security_auditor, devops, document_writer or custom:NAME. Behind a role stands a profile, the settings `roles.NAME`: agent, model, access, tools and persona, for whatever the step itself does not say."},
	{name: "policy", on: onWork, types: []string{typeText}, enum: policies(), def: "that of the run",
		doc:  "Who chooses the recoveries from its failures: belay looks at the class of a failure and has a bound on every path, classic follows six old rules over the words of an error.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.Policy = p.choice(k, v, policies()...) }},
	{name: "isolate", on: onWork, types: []string{typeText}, enum: []string{"worktree", "copy", "off"}, def: "a worktree for agents that can be at work at the same time as another step",
		doc: "worktree: the step has a git worktree and a branch of its own to work in. copy: it only reads, and has a copy of the files as they are, with a repository of its own; all that it does there is thrown away. A working_dir that is absolute is worked in itself. off on an agent step: it shares the tree with the steps beside it, and must have verify. " +
			"off on a bash step: it does not write into the tree, so agents beside it need no worktree.",
		read: func(p *parser, d *draft, k, v *yaml.Node) {
			d.Isolate = Isolation(p.choice(k, v, string(IsolateWorktree), string(IsolateCopy), string(IsolateOff)))
		}},
	{name: "merge", on: onWork, types: []string{typeText}, enum: []string{"auto", "branch"}, def: "auto; branch with isolate: worktree on a step without foreach",
		doc: "What becomes of the work of an isolated step when it is done: auto merges it into the run's tree, branch leaves it on its branch.",
		read: func(p *parser, d *draft, k, v *yaml.Node) {
			d.Merge = MergeMode(p.choice(k, v, string(MergeAuto), string(MergeBranch)))
		}},
	{name: "guard", on: onWork, types: []string{typeTexts}, form: `["tests/**", "*.golden"]`, def: "that of the recipe", read: func(p *parser, d *draft, k, v *yaml.Node) { d.Guard = p.guard(k, v) },
		doc: "Files that an agent of the step may not change, as patterns: one without a slash is a name in any folder, one with a slash is a path from the step's directory, ** stands for any folders. A change there fails the attempt. An empty list also lifts what is guarded by itself: the scripts that its check runs by their path and, for an agent that repairs or recovers it, its test files."},
	{name: "fallback", bound: bounds{must: true, one: true}, on: onDone, types: []string{typeMapping}, form: "{recipe: NAME} or {step: ID}", read: readFallback,
		inner: inner(fallbackKeys), doc: "What is done instead when it stays failed: a recipe, or another step of this one."},
	{name: "repair", on: onBash | onAgent, types: []string{typeText}, enum: []string{"on", "off"}, def: "on", why: "it is about steps that do work themselves; write it on the steps of the sub-recipe",
		doc:  "Whether an agent may repair it when it fails, in a run that uses agents: with off it fails as it is, after its own retry. For steps that only look, such as a check whose failure is the answer.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.NoRepair = p.choice(k, v, "on", "off") == "off" }},
	{name: "recovery", on: onRecipe, types: []string{typeText}, enum: recoveries(), def: "that of the run", why: noRecovery, read: readRecovery,
		doc: "Whether an agent is asked to finish what a failed sub-recipe left, in a run that uses agents: on checks its work by verify and expect, classic takes its word, off asks none."},
	{name: "recovery_on_failure", on: onRecipe, same: "recovery", types: []string{typeBool}, why: noRecovery, read: readRecovery,
		doc: "The older spelling of recovery: true is on, false is off; recovery wins."},
	{name: "runs_on", bound: bounds{text: formID}, on: onAll, types: []string{typeTexts}, form: "[gpu, linux]", doc: "As runs_on of the recipe: all attempts of a run are made on one worker.",
		read: func(p *parser, d *draft, k, v *yaml.Node) { d.RunsOn = p.labels(k, v) }},
}

const noRecovery = "it is about failed sub-recipes: write it on a recipe step, at the top, or under defaults:"

func policies() []string   { return []string{"belay", "classic"} }
func recoveries() []string { return []string{"on", "off", "classic"} }

func expectations() []string { return []string{"none", "answer", "change", "tests", "pr"} }

func failureWords() []string {
	var words []string
	for _, kind := range belay.FailureKinds() {
		words = append(words, string(kind))
	}
	return words
}

var retryKeys = newTable(nil,
	key[Retry]{name: "max_attempts", bound: bounds{most: maxAttempts}, types: []string{typeCount}, def: "1", doc: "All attempts, the first included.",
		read: func(p *parser, r *Retry, k, v *yaml.Node) { r.MaxAttempts = p.count(k, v, maxAttempts) }},
	key[Retry]{name: "backoff", bound: bounds{zero: true}, types: []string{typeDuration}, form: "500ms", doc: "The pause before the second attempt; it doubles after that.",
		read: func(p *parser, r *Retry, k, v *yaml.Node) {
			d, ok := p.duration(k, v)
			if ok && d < 0 {
				p.fail(posOf(v), "", "%q must not be less than 0", k.Value)
				return
			}
			r.Backoff = d
		}},
)

var fallbackKeys = newTable(nil,
	key[Fallback]{name: "recipe", bound: bounds{text: formRecipe}, types: []string{typeText}, form: "NAME", read: readFallbackRecipe,
		doc: "A recipe, that runs instead of the step, with the same variables, and with the context of a recipe step."},
	key[Fallback]{name: "step", bound: bounds{text: formID}, types: []string{typeText}, form: "ID", read: readFallbackStep,
		doc: "A step of this recipe. It no longer starts by itself and nothing waits for it: it has no needs, parallel_group, condition, when_tags, foreach or repeat of its own."},
)
