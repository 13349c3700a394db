package worktree

import (
	"slices"
	"strings"
	"unicode"
)

// The words of which CLIs make the names of their tools, in small letters: those
// of tools that do something, those of tools that only look, and whole names of
// tools that touch no file.
var (
	doers = []string{
		"write", "edit", "edits", "replace", "patch", "create", "delete", "insert", "update", "move", "rename", "change", "set", "save", "mark", "send", "add",
		"remove", "apply", "run", "exec", "execute", "publish", "post", "put", "upload", "make", "generate", "format", "fix", "install", "build", "commit", "push", "append",
	}
	lookers = []string{"read", "view", "grep", "glob", "search", "list", "ls", "find", "fetch"}
	idlers  = []string{
		"todowrite", "todo_write", "todoread", "todo_read", "write_todos", "update_todo", "updatetodo", "update_plan", "plan",
		"think", "thinking", "askuserquestion", "ask_user", "ask_user_question", "question", "structuredoutput", "invalid",
		"exitplanmode", "exit_plan_mode", "enterplanmode", "enter_plan_mode", "plan_enter", "plan_exit", "switch_mode",
		"bashoutput", "read_bash", "killshell", "stop_bash", "report_intent", "toolsearch", "websearch", "web_search",
		"webfetch", "codesearch", "readfile", "listfiles", "findfiles", "lsp", "zoom_image", "get_internal_docs",
		"taskcreate", "taskupdate", "taskget", "tasklist", "taskstop", "task_stop", "taskoutput", "task_complete", "complete_task",
		"tracker_create_task", "tracker_update_task", "tracker_get_task", "tracker_list_tasks", "tracker_add_dependency", "tracker_visualize",
		"get_goal", "update_goal", "update_topic", "reportfindings", "report_findings", "brief",
		"schedulewakeup", "loop_wakeup", "croncreate", "cron_create", "crondelete", "cron_delete", "cronlist", "cron_list",
	}
	// senders touch no file, and somebody else hears of them
	senders = []string{"sendmessage", "send_message", "sendusermessage", "pushnotification", "remotetrigger"}
)

// idle tells whether a tool changes nothing, by its name.
func idle(tool string) bool {
	if slices.Contains(idlers, strings.ToLower(tool)) {
		return true
	}
	words := toolWords(tool)
	among := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	return among(lookers) && !among(doers)
}

// toolWords are the words in the name of a tool: whole ones, because "ls" is in
// "tools" and "read" in "spreadsheet". The name of a server before it says
// nothing about the tool.
func toolWords(tool string) []string {
	if i := strings.LastIndex(tool, "__"); i >= 0 {
		tool = tool[i+2:]
	}
	var words []string
	for part := range strings.FieldsFuncSeq(tool, func(r rune) bool { return !unicode.IsLetter(r) }) {
		words = append(words, humps(part)...)
	}
	return words
}

// humps cuts a name such as readFile, LS or URLFetch.
func humps(name string) []string {
	runes := []rune(name)
	var words []string
	from := 0
	for i := 1; i < len(runes); i++ {
		begins := unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if begins {
			words = append(words, strings.ToLower(string(runes[from:i])))
			from = i
		}
	}
	return append(words, strings.ToLower(string(runes[from:])))
}
