package recipe

// Difference is a place where Belay does something else than the older runner
// with the same recipe, on purpose.
type Difference struct {
	ID     string `json:"id"` // a short name that stays
	Theirs string `json:"theirs"`
	Ours   string `json:"ours"`
	Why    string `json:"why"`
	Compat bool   `json:"compat"` // compat: true brings their way back
}

// Differences are all of them, by subject.
func Differences() []Difference {
	return append(append(fileDifferences(), valueDifferences()...), runDifferences()...)
}

// fileDifferences concern how a file is read.
func fileDifferences() []Difference {
	return []Difference{
		{"unknown-keys", "A key that is not known is ignored.", "It is an error, with the key that was likely meant.",
			"A key with a slip in it does nothing, and nobody sees it.", true},
		{"idle-keys", "A key that has no effect on this type of step is ignored.", "It is an error.",
			"Who writes it expects it to do something.", true},
		{"file-size", "A file has at most 1,000,000 bytes.", "It has at most 16 MiB.", "Generated recipes are larger.", false},
		{"duplicate-keys", "A key that is given twice inside context counts once, the last one.", "It is an error wherever it stands.",
			"One of the two values is lost without a word.", false},
		{"anchors", "Anchors, aliases, merge keys and tags of YAML are resolved.", "They are errors.",
			"A small file can unfold into one that fills the memory, and a reader has to do the same in the head.", false},
		{"empty-command", "A bash step without a command, or with an empty one, succeeds.", "It is an error.", "A step that does nothing proves nothing.", true},
		{"empty-prompt", "An agent step without a prompt is started.", "It is an error.", "An agent that is asked nothing costs money.", true},
		{"names", "Any text is an id or the name of a variable.", "Ids and names are letters, digits, _ and - (in ids also dots).",
			"Ids are names of files and variables, names are variables of the shell.", false},
		{"float-form", "2.0 stays 2.0.", "A number of the context is written in its shortest form: 2.", "It is the same number.", false},
		{"leading-zeros", "0o17 is a number and 007 is one in some readers.", "A number with a leading zero is a text.",
			"Post codes, modes and issue numbers lose something as numbers.", false},
		{"timeout-form", "timeout is a whole number of seconds; 0 is none.", "It is a number of seconds or a text such as 5m; 0 is an error.",
			"A timeout of 0 looks like an instant one.", true},
		{"timeout-seconds", "timeout_seconds is ignored.", "It is another spelling of timeout; both together are an error.",
			"It is in use and was meant.", false},
		{"contradictions", "A step is optional when one of continue_on_error, nonfatal and fatal says so.", "Spellings that contradict each other are an error.",
			"One of them is wrong.", true},
		{"validation-rules", "An unknown rule of context_validation is a line in a log.", "It is an error.", "The value would not be checked at all.", true},
		{"validation-nested", "Only the recipe that is run has its context_validation looked at.", "Those of sub-recipes are looked at too.",
			"A rule is written to be kept.", false},
		{"extends-search", "A parent is only looked for in the directories of -R.", "It is also looked for beside the file.",
			"A recipe and its parent mostly lie side by side.", false},
		{"extends-same-id", "A step of the child with the id of a parent's step runs in addition.", "It takes the place of the parent's step.",
			"Two steps with one id cannot be told apart, and to replace one is what people want.", false},
		{"extends-recursion", "recursion of a child counts unless it equals the defaults.", "What the child writes counts; what it leaves out is inherited.",
			"Writing down a default must not undo itself.", false},
		{"validate-extends", "Validation does not look at what a recipe extends or calls.", "It does.", "A missing file is found before the run, not during it.", false},
		{"top-output", "output at the top is ignored.", "It is ignored with a warning.", "Nobody should rely on it.", false},
	}
}

// valueDifferences concern variables, templates, conditions and outputs.
func valueDifferences() []Difference {
	return []Difference{
		{"missing-names", "A variable that nothing sets is empty text.", "It is an error before the run, unless it has a default: {{name | default('')}}.",
			"A slip in a name becomes an empty argument.", true},
		{"quotes", "{{v}} becomes \"$RECIPE_VAR_v\" whatever quotes it stands in, so \"{{v}}\" is split into words and '{{v}}' is not filled in.",
			"The value is one word in every kind of quotes.", "Values with blanks and stars broke scripts.", false},
		{"heredocs", "In a heredoc with a quoted end the value is pasted into the script.", "It is never part of the script.",
			"A value with the end word in it ran as a command.", false},
		{"big-values", "A value over 131,071 bytes makes every later step fail.", "It is a variable of the script and a file for its children.",
			"A long answer is not a mistake of the recipe.", false},
		{"big-context", "Over 1.5 MB of values all but four of them become empty.", "All of them stay.", "Values that vanish silently lead to wrong work.", false},
		{"arithmetic", "Any text is put into arithmetic.", "Only a whole number is; else the step fails before it starts.",
			"Arithmetic in bash runs commands that are hidden in a value.", false},
		{"denied-names", "A variable called bash_env or amplihack_session_depth overwrites the one of the system.", "Such names are errors.",
			"They run files, or lift the limits of the run.", false},
		{"object-alias", "Only plain values are exported as $NAME.", "Lists and objects are too, as JSON.",
			"The same output was there or not, depending on how an agent wrote it.", false},
		{"blanks-in-braces", "{{ name }} with blanks is no placeholder and stays as it is.", "It is filled in like {{name}}.", "Nobody means anything else by it.", false},
		{"text-braces", "{{ that is no placeholder stays as it is.", "It is an error; {{ '{{' }} writes two braces.", "Most of them are slips.", true},
		{"missing-fields", "A field of a variable that nothing sets, or that is no object, is empty text, and null in a condition.", "It is an error, unless it has a default.",
			"A slip in a name becomes an empty argument.", true},
		{"condition-rest", "Words after a complete condition are ignored.", "They are an error.", "a == 'x' == 'y' and half a sentence came out true.", true},
		{"condition-functions", "An unknown function is false.", "It is an error.", "The step is skipped for ever.", false},
		{"condition-braces", "'{{v}}' in a condition is compared as it stands.", "It is an error: names stand without braces.", "Such a condition is never true.", false},
		{"condition-objects", "'k' in an object is always false.", "It tells whether the object has the key.", "That is what it says.", false},
		{"condition-sides", "Both sides of and and or are always looked at, and an error in either fails the step.", "The second is looked at when the first does not decide.", "A condition can ask first whether there is something to ask about.", false},
		{"condition-parentheses", "(s) is true or false, so (s) == 'x' is false.", "Parentheses only group.", "That is what they are for.", false},
		{"condition-types", "A comparison of types that do not fit is true or false by rules that few know, and a method works on the text of a number.",
			"It is an error; str(), int() and float() say what is meant.", "true == 1 came out false, and 42 in 'abc 42' too.", false},
		{"condition-length", "len and find count bytes.", "They count characters.", "A name with an accent is not longer than one without.", false},
		{"condition-numbers", "int(3) is 0 and str(42) is '42.0'.", "They are 3 and '42'.", "That is what they say.", false},
		{"condition-digits", "Numbers are floats: 9007199254740993 == 9007199254740992 is true.", "All digits count.", "Ids of issues and messages are that long.", false},
		{"condition-bool", "bool('false') is true, as is any text but the empty one.", "It is false; other texts are true unless they are empty.",
			"That is what it says.", false},
		{"condition-constant", "A condition that is always false is one like any other.", "The step is an error, as it can never run.",
			"It is a slip or a left-over.", true},
		{"json-first", "Only the first fence and the first bracket are tried for JSON.", "All are.", "See {this}: then {\"k\": 2} holds an answer.", false},
		{"json-required", "parse_json_required counts only with parse_json.", "It looks for JSON by itself.", "That is what it says.", false},
		{"secrets-in-outputs", "Outputs are stored as they are.", "What is known to be secret is hidden in them, and a step that reads such an output fails before it starts.",
			"A token in a journal is a leak.", false},
	}
}

// runDifferences concern what happens when a recipe runs.
func runDifferences() []Difference {
	return []Difference{
		{"shell", "Scripts run in bash as it is.", "They run with -e, -u and pipefail; shell: plain is bash as it is.",
			"A script that goes on after a failed command reports success.", true},
		{"empty-run", "A run in which every step was left out succeeds.", "It fails, unless the recipe says allow_empty: true.", "Nothing was done.", false},
		{"empty-call", "A sub-recipe in which every step was left out has succeeded.", "Its step fails, unless the sub-recipe says allow_empty: true; with --compat it is not taken, and a run in which nothing else ran still fails.",
			"Somebody expected it to do something.", true},
		{"recipe-output", "output of a recipe step is a text that lists how its steps ended.", "It is an object of what its steps gave; with --compat it is that text, and the object follows as JSON.",
			"The next step wants the results.", true},
		{"group-agents", "In a parallel_group only bash steps run at the same time.", "All do; an agent gets a worktree of its own. Without a git repository agents take turns.", "That is what the key says.", false},
		{"group-context", "What a sub-recipe in a group sets is lost, and working_dir is not filled in.", "Both work as elsewhere.", "A group changes when a step runs, not what it does.", false},
		{"group-needs", "There is no needs.", "parallel_group and needs on one step are an error.", "A group shares what it waits for.", false},
		{"working-dir", "A relative working_dir counts from where the runner was started.", "It counts from the run's directory.", "The same run must not depend on where it was typed.", false},
		{"hooks-told", "Hooks are not told which step they are for.", "They read BELAY_HOOK_STEP, BELAY_HOOK_STATUS and BELAY_HOOK_ERROR.", "A hook that knows nothing can report nothing.", false},
		{"hooks-skipped", "Hooks run around a step whose condition is false, too.", "They run around steps that run.", "A hook that says that a step ended is wrong when it never began.", true},
		{"hooks-dry", "Hooks run in a dry run.", "They do not.", "A dry run changes nothing.", false},
		{"dry-run", "A dry run checks nothing.", "It checks conditions, templates and sub-recipes with the given values.", "That is what it is asked for.", false},
		{"failed-output", "What a failed script printed is lost.", "It is kept.", "It is the evidence.", false},
		{"killing", "A timeout ends only the first process.", "It ends everything that the step started.", "What is left behind goes on working.", false},
		{"recipe-timeout", "timeout of a recipe step has no effect.", "It ends the child run.", "That is what it says.", false},
		{"step-limit", "Steps that were left out count for max_total_steps, and so do the recipe's own.", "Only steps that are started in sub-recipes count.",
			"Long recipes ended at a limit that was meant for endless calls.", false},
		{"set-malformed", "A --set without = is ignored with a warning.", "It is an error.", "The run would do something else than was asked for.", false},
		{"sub-recipe-defaults", "The defaults of a sub-recipe stay in its caller's context.", "Only what its steps set comes back.",
			"A default is a value for the recipe that has it.", false},
		{"stopping", "A signal to the runner leaves what it started running, and the run is lost.", "Everything that was started is ended, and the run can be resumed.",
			"A run of two hours must not begin again.", false},
		{"exit-codes", "2 is a wrong file or usage, 3 is not found, 4 is no recipe given.", "65 is a wrong or missing recipe, 64 is wrong usage.",
			"A script can tell its own mistake from one of the recipe.", false},
		{"command-line", "--validate-only, --explain, --audit-dir, --output-format, --progress, list.",
			"There are commands: validate, explain, show, logs, recipes; run --json prints every record, and the journal is always written.",
			"What a run did can be asked for at any time, not only before it starts.", false},
		{"context-environment", "Empty keys of the context are filled from AMPLIHACK_CONTEXT_KEY, AMPLIHACK_TASK_DESCRIPTION and AMPLIHACK_REPO_PATH.",
			"Only --set, --set-file and --var-env give values.", "What a run begins with is on its command line, and on record.", false},
		{"standard-input", "An agent and its tools read the standard input of the runner.", "Every step has an empty one.",
			"A program that asks would wait for ever, or take words that are not for it.", false},
		{"self-update", "It looks for a new version of itself at each start, and update installs it.", "It never looks, and has no such command.",
			"A tool that runs at night must be the one that was tried by day.", false},
		{"failed-again", "A run that failed begins anew: what its steps did is done again.", "belay resume goes on with it; what is done is not done again.",
			"The first hours of a long run must not be lost with its last minute.", false},
		{"agent-call", "An agent is called through a launcher with the prompt as an argument; over 32 KiB most of it is lost, and only some agents get the persona and the rule not to start another run.",
			"Each agent is called by its own program, as that wants it; the prompt goes in whole, and the persona and the rule are part of it.",
			"What an agent does not read it cannot follow.", false},
		{"agent-names", "agent: without a colon is a reference that leads nowhere: the agent of the runner does the step.", "It is the name of an agent, such as claude; one that is not there is an error before the run.",
			"Who names an agent wants that one.", false},
		{"agent-references", "An agent reference of another form than a:b and a:b:c is a line in a log, and the step runs without a persona.", "It is an error.",
			"A review by nobody in particular is not the one that was asked for.", true},
		{"auto-stage", "After an agent step everything is staged (git add -A), unless auto_stage: false.", "Nothing is staged; auto_stage: true is a warning.",
			"The index is the user's, and what an agent changed is seen without it; a step can run git add -A.", false},
		{"rate-limits", "An agent whose output has 429 or rate limit in it is started again by itself, up to five times, each time later.",
			"Its records and its exit tell, not its text. retry: comes first; then its session is continued twice; then another agent takes over, or the service is waited for, 30 minutes if it names no time.",
			"A 429 in a text is no rate limit, and a limit ends by itself.", false},
		{"rate-limit-waits", "After a rate limit 1, 2, 4, 8 and 10 minutes are waited.",
			"At least 15 seconds, twice that the next time, and as long as the service asks for; when that is more than 5 minutes, another agent comes first.",
			"The service knows when it can be called again, and a wait is on record: a crash does not begin it anew.", false},
		{"repairs", "A step whose work is not what was asked for has failed.",
			"In a run that uses agents the failing evidence goes to an agent, and the step's own check decides again; as long as less fails than before, three times at most.",
			"What one look at the error fixes should not need a person.", false},
		{"recovery-claims", "An agent that is asked to finish a failed sub-recipe has done so when it answers, whatever it says.",
			"UNRECOVERABLE in its answer is a no; else verify:, expect: or output: of the step decide, and with nothing to check the run ends PARTIAL (5).",
			"Words are no work. recovery: classic takes any other answer.", false},
		{"json-again", "An agent that is asked once more for JSON begins anew, without its persona, its model and its timeout.", "It is asked in the session that it has, where it can go on with one, and within the timeout of the step.",
			"It knows the answer already.", false},
		{"hollow", "An agent that ends well is done, whatever it did.", "Where nobody reads its answer it must leave a change, else an answer; expect: says otherwise, and with --compat an answer is enough.", "Nothing else shows that it worked.", false},
	}
}
