package recipe

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/belay-run/belay/effect"
	"github.com/belay-run/belay/internal/spelling"
)

// topKeys are the keys at the top of a recipe.
var topKeys = newTable(
	map[string]string{
		"jobs": "steps", "tasks": "steps", "title": "name", "variables": "context", "vars": "context", "inputs": "context",
		"parameters": "context", "default_step_timeout": "defaults", "base": "extends", "include": "extends",
	},
	key[Recipe]{name: "name", bound: bounds{text: formName}, types: []string{typeText}, read: readName, doc: "What the recipe is called, in any words."},
	key[Recipe]{name: "description", bound: bounds{text: formAny}, types: []string{typeText}, doc: "What it is for.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Description = p.text(k, v) }},
	key[Recipe]{name: "version", bound: bounds{text: formAny}, types: []string{typeText}, def: "1.0.0", doc: "The version of the recipe itself.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Version = p.text(k, v) }},
	key[Recipe]{name: "author", bound: bounds{text: formAny}, types: []string{typeText}, doc: "Who answers for it.",
		read: func(p *parser, _ *Recipe, k, v *yaml.Node) { p.text(k, v) }},
	key[Recipe]{name: "tags", types: []string{typeTexts}, form: "[one, two]", doc: "Words to find the recipe by; steps are chosen by their own when_tags.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Tags = p.texts(k, v) }},
	key[Recipe]{name: "extends", bound: bounds{text: formRecipe}, types: []string{typeText}, form: "NAME", read: readExtends,
		doc: "A recipe to build on: its steps come first, its context, hooks and tags are inherited; a step with the id of one of its steps takes that step's place."},
	key[Recipe]{name: "compat", types: []string{typeBool}, def: "false", doc: "Read the file as the older runner would, where that is safe.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { p.boolean(k, v) }}, // it was looked at before all others
	key[Recipe]{name: "shell", types: []string{typeText}, def: "strict", enum: []string{"strict", "plain"},
		doc:  "How scripts run: strict is bash with -e, -u and pipefail, plain is bash as it is.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Shell = p.shell(k, v) }},
	key[Recipe]{name: "recursion", types: []string{typeMapping}, form: "{max_depth: 6, max_total_steps: 200}", inner: inner(recursionKeys),
		doc: "How deep recipes may call each other, and how many steps those may start; only those of the recipe that is run count.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) {
			if p.mapping(k, v) {
				readKeys(p, v, recursionKeys, 0, &r.Recursion)
			}
		}},
	key[Recipe]{name: "policy", types: []string{typeText}, enum: policies(), def: "that of the settings, else belay",
		doc:  "Who chooses the recoveries from failures, for every step that does not say so itself; --policy takes precedence. Only that of the recipe that is run counts.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Policy = p.choice(k, v, policies()...) }},
	key[Recipe]{name: "recovery", types: []string{typeText}, enum: recoveries(), def: "on",
		doc:  "Whether an agent is asked to finish what a failed sub-recipe left, for every recipe step that does not say so itself; --recovery takes precedence. Only that of the recipe that is run counts.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Recovery = p.choice(k, v, recoveries()...) }},
	key[Recipe]{name: "tests", types: []string{typeScript}, form: "make check",
		doc:  "The command that tests the work of agent steps with expect: tests and no verify; without it that of the settings, else the repository's own is looked for.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Tests = p.script(k, v) }},
	key[Recipe]{name: "ends", bound: bounds{text: formCondition}, types: []string{typeText}, form: "EXPR", read: readEnds,
		doc: "The status that the run amounts to, asked when all steps are settled: ACHIEVED, PARTIAL, NOT_ACHIEVED, HOLLOW, STALEMATE or FAILED, alone or before ` -- ` and a reason. It only lowers what the steps amount to. Anything else, or a name that nothing set, ends the run as FAILED."},
	key[Recipe]{name: "max_agents", bound: bounds{text: formCondition}, types: []string{typeText}, form: "EXPR", def: "40", read: readMaxAgents,
		doc: "How many agents a run may start, with all runs below it: a number from 1 to 200, or an expression over the variables that gives one, asked anew before every start. While it gives none, the number is 40. --max-agents and the setting budget.max_agents are over it. Only that of the recipe that is run counts."},
	key[Recipe]{name: "notify", types: []string{typeMapping}, form: "{on: [held, stalled], to: [desktop]}", inner: inner(notifyKeys), read: readNotify,
		doc: "Who is told when a run of the recipe is held, ends or stalls; without it as the settings have it. Only that of the recipe that is run counts."},
	key[Recipe]{name: "allow_empty", types: []string{typeBool}, def: "false", doc: "It is fine when no step runs at all.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.AllowEmpty = p.boolean(k, v) }},
	key[Recipe]{name: "secrets", bound: bounds{text: formVar}, types: []string{typeTexts}, form: "[token, API_KEY]", read: readSecrets,
		doc: "Variables whose values are hidden wherever they would be shown or stored."},
	key[Recipe]{name: "context", bound: bounds{names: formVar}, types: []string{typeMapping}, form: "{name: value}", read: readContext,
		doc: "The variables and their defaults; --set and a calling recipe overwrite them."},
	key[Recipe]{name: "context_validation", bound: bounds{names: formVar}, types: []string{typeMapping}, form: "{name: rule}", read: readRules,
		enum: []string{"nonempty", "git_repo", "path", "optional"},
		doc:  "What a variable must be before the first step: nonempty, git_repo, path or optional."},
	key[Recipe]{name: "hooks", types: []string{typeMapping}, form: "{pre_step: script, post_step: script, on_error: script}", inner: inner(hookKeys),
		doc: "Scripts around every step of this recipe. They have 30 s and never change how the run ends; that one failed is shown, and one that was cut off by a stop or a crash runs again.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) {
			if p.mapping(k, v) {
				readKeys(p, v, hookKeys, 0, &r.Hooks)
			}
		}},
	key[Recipe]{name: "defaults", types: []string{typeMapping}, form: "{timeout: 5m, retry: 2}", read: readDefaults,
		doc: "Step keys for every step of this file that does not set them itself."},
	key[Recipe]{name: "steps", types: []string{typeSteps}, read: readSteps, doc: "What is done, one mapping for each step."},
	key[Recipe]{name: "finally", types: []string{typeSteps}, read: readFinally,
		doc: "Steps that run one after the other when all others are over: on success, failure and cancel, not while the run is stopped, paused or held. They never change how the run ends, nobody is asked about them, and each has 5m where it does not say timeout. They read `run`, an object with `ok`, `status`, `code` and `failure`."},
	key[Recipe]{name: "output", types: []string{typeAny}, doc: "Accepted and without effect.",
		read: func(p *parser, _ *Recipe, k, _ *yaml.Node) {
			p.warn(posOf(k), "", "%q at the top of a recipe has no effect", k.Value)
		}},

	key[Recipe]{name: "isolate", types: []string{typeText}, enum: []string{"worktree"}, doc: "Give every run of the recipe a git worktree and a branch of its own to work in.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Isolate = p.choice(k, v, "worktree") != "" }},
	key[Recipe]{name: "guard", types: []string{typeTexts}, form: `["tests/**", "*.golden"]`, read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.Guard = p.guard(k, v) },
		doc: "Files that no agent of the recipe may change, for every step that does not say guard itself."},
	key[Recipe]{name: "merge", types: []string{typeText}, enum: []string{"auto", "branch"}, def: "as each step has it",
		doc: "What becomes of the work of the steps that are isolated, where they do not say it: auto merges it into the run's tree, branch leaves it on a branch. The worktree of a whole recipe (isolate at the top) always stays on its branch; auto is refused there.",
		read: func(p *parser, r *Recipe, k, v *yaml.Node) {
			r.Merge = MergeMode(p.choice(k, v, string(MergeAuto), string(MergeBranch)))
		}},
	key[Recipe]{name: "runs_on", bound: bounds{text: formID}, types: []string{typeTexts}, form: "[gpu, linux]", doc: runsOnText,
		read: func(p *parser, r *Recipe, k, v *yaml.Node) { r.RunsOn = p.labels(k, v) }},
).cured(topCures)

const runsOnText = "Labels of the workers that may run it, where runs are driven by Temporal: the run is placed on a worker that has all labels of its recipe, of its steps and of the recipes that they call, and waits for one. Where this machine drives runs it has no effect."

var recursionKeys = newTable(nil,
	key[Recursion]{name: "max_depth", bound: bounds{most: maxCount}, types: []string{typeCount}, def: "6", doc: "Levels of sub-recipes.",
		read: func(p *parser, r *Recursion, k, v *yaml.Node) { r.MaxDepth = p.count(k, v, maxCount) }},
	key[Recursion]{name: "max_total_steps", bound: bounds{most: maxCount}, types: []string{typeCount}, def: "200", doc: "Steps that are started in sub-recipes.",
		read: func(p *parser, r *Recursion, k, v *yaml.Node) { r.MaxTotalSteps = p.count(k, v, maxCount) }},
)

var hookKeys = newTable(nil,
	key[Hooks]{name: "pre_step", types: []string{typeScript}, doc: "Before a step starts.",
		read: func(p *parser, h *Hooks, k, v *yaml.Node) { h.PreStep = p.hook(k, v) }},
	key[Hooks]{name: "post_step", types: []string{typeScript}, doc: "After a step that did not fail.",
		read: func(p *parser, h *Hooks, k, v *yaml.Node) { h.PostStep = p.hook(k, v) }},
	key[Hooks]{name: "on_error", types: []string{typeScript}, doc: "After a step that failed.",
		read: func(p *parser, h *Hooks, k, v *yaml.Node) { h.OnError = p.hook(k, v) }},
)

func (p *parser) hook(k, v *yaml.Node) *Script {
	if isNull(v) {
		return nil
	}
	return p.script(k, v)
}

func readName(p *parser, r *Recipe, k, v *yaml.Node) {
	r.Name = p.text(k, v)
	switch {
	case v.Kind != yaml.ScalarNode: // said so
	case strings.TrimSpace(r.Name) == "":
		p.fail(posOf(k), "", "%q is empty", k.Value)
	case strings.ContainsFunc(r.Name, unicode.IsControl):
		p.fail(posOf(v), "", "%q has a line break or a control character in it", k.Value)
	}
}

func readExtends(p *parser, r *Recipe, k, v *yaml.Node) {
	if name, ok := p.filled(k, v); ok && p.recipeName(v, name) {
		r.Extends, r.extendsPos = name, posOf(v)
	}
}

func readContext(p *parser, r *Recipe, k, v *yaml.Node) {
	p.variables(k, v, func(name, value *yaml.Node) {
		p.unfilled(value)
		p.cut(name, value)
		r.Context = append(r.Context, Var{Name: name.Value, JSON: p.asJSON(value, p.value(value)), Pos: posOf(name)})
	})
}

// readRules reads context_validation; no rule at all is optional.
func readRules(p *parser, r *Recipe, k, v *yaml.Node) {
	p.variables(k, v, func(name, rule *yaml.Node) {
		kind := RuleOptional
		if !isNull(rule) && rule.Value != "" || rule.Kind != yaml.ScalarNode {
			kind = p.rule(name, rule)
		}
		r.Rules = append(r.Rules, Rule{Name: name.Value, Kind: kind, Pos: posOf(name)})
	})
}

// variables reads a mapping from names of variables that the recipe sets.
func (p *parser) variables(k, v *yaml.Node, read func(name, value *yaml.Node)) {
	if !p.mapping(k, v) {
		return
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		name, value := v.Content[i], v.Content[i+1]
		if p.twice[name] || !p.variable(name, name.Value, varForm) {
			continue
		}
		p.sets(name, name.Value)
		read(name, value)
	}
}

func (p *parser) rule(name, v *yaml.Node) RuleKind {
	words := []string{string(RuleNonempty), string(RuleGitRepo), string(RulePath), string(RuleOptional)}
	for _, w := range words {
		if v.Kind == yaml.ScalarNode && v.Value == w {
			return RuleKind(w)
		}
	}
	if v.Kind == yaml.ScalarNode {
		p.loose(posOf(v), didYouMean(spelling.Near(v.Value, words)), "the rule for %q is one of %s, found %q", name.Value, strings.Join(words, ", "), clip(v.Value))
	} else {
		p.wrong(name, v, "one of "+strings.Join(words, ", "), "")
	}
	return RuleOptional
}

func readSecrets(p *parser, r *Recipe, k, v *yaml.Node) {
	r.Secrets = p.texts(k, v)
	if v.Kind != yaml.SequenceNode {
		return
	}
	for _, n := range v.Content {
		r.secretPos = append(r.secretPos, posOf(n))
		if n.Kind == yaml.ScalarNode && !isNull(n) && !varForm(n.Value) {
			p.fail(posOf(n), "list the name of the variable, never its value", "a secret is named like a variable: a letter or _, then letters, digits, _ and -")
		}
	}
}

func (p *parser) shell(k, v *yaml.Node) effect.Shell {
	if v.Kind == yaml.ScalarNode && strings.ContainsAny(v.Value, " \n") {
		p.fail(posOf(v), "write the script of a step under command:", "\"shell\" is how a script runs, strict or plain, found %q", clip(v.Value))
		return ""
	}
	if v.Kind == yaml.ScalarNode && slices.Contains([]string{"sh", "zsh", "fish", "dash", "ksh", "python", "python3", "node", "pwsh"}, v.Value) {
		p.fail(posOf(v), "scripts run in bash; start another program in the command: "+v.Value+" -c '…'", "%q is one of strict, plain, found %q", k.Value, v.Value)
		return ""
	}
	return effect.Shell(p.choice(k, v, string(effect.ShellStrict), string(effect.ShellPlain)))
}
