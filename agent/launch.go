package agent

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxArgument is the longest argument that is handed over: Linux refuses more
// than 128 KiB in one.
const maxArgument = 120 << 10

// plainEnv is what every CLI is told: nobody looks at a terminal.
func plainEnv() []string {
	return []string{"NO_COLOR=1", "DO_NOT_TRACK=1"}
}

// nesting are marks by which a CLI believes that it runs inside another one,
// and then behaves differently.
func nesting() []string {
	return []string{
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
		"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID",
		"GEMINI_CLI", "QWEN_CODE", "OPENCODE",
		"FORCE_COLOR",
	}
}

// argv is the program, the adapter's arguments and the configuration's own.
func argv(t Task, args ...string) []string {
	out := append([]string{}, t.Program...)
	out = append(out, args...)
	return append(out, t.Args...)
}

// ready checks what every adapter needs of a task.
func ready(kind Kind, t Task) error {
	if len(t.Program) == 0 {
		return fmt.Errorf("start %s: no program given", kind)
	}
	if !path.IsAbs(t.Home) {
		return fmt.Errorf("start %s: the private folder %q is not absolute", kind, t.Home)
	}
	for _, id := range []string{t.Session, t.Resume, t.Model} {
		if strings.HasPrefix(id, "-") || strings.ContainsAny(id, "\x00\n\r") {
			return fmt.Errorf("start %s: %q cannot be a session or a model", kind, id)
		}
	}
	for _, tool := range t.Tools {
		if tool == "" || strings.HasPrefix(tool, "-") || strings.ContainsAny(tool, "\x00\n\r") {
			return fmt.Errorf("start %s: %q cannot be a tool", kind, tool)
		}
	}
	switch t.Access {
	case AccessRead, AccessEdit, AccessFull:
		return nil
	}
	return fmt.Errorf("start %s: access %q is none of read, edit, full", kind, t.Access)
}

// writes tells the tools that change files; the path of one that only reads is
// no evidence and is not kept.
func writes(tool string) bool {
	switch strings.ToLower(tool) {
	case "write", "edit", "multiedit", "notebookedit", "notebook_edit", "patch", "apply_patch",
		"write_file", "replace", "create", "str_replace", "insert", "file_change":
		return true
	}
	return false
}

// changes tells the tools of servers that change what they name, by a word of
// their name: mcp__files__write_file.
func changes(tool string) bool {
	i := strings.LastIndex(tool, "__")
	if i < 0 {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(tool[i+2:]), func(r rune) bool { return r == '_' || r == '-' })
	return slices.ContainsFunc(words, func(w string) bool {
		switch w {
		case "write", "edit", "replace", "create", "delete", "move", "rename", "insert", "append", "patch", "remove", "save", "overwrite":
			return true
		}
		return false
	})
}

// shells tells the tools that run commands.
func shells(tool string) bool {
	switch strings.ToLower(tool) {
	case "bash", "shell", "local_shell", "powershell", "run_shell_command", "command_execution":
		return true
	}
	return false
}

// which are the flags that name model and session, where a CLI has these.
func which(t Task) []string {
	var args []string
	if t.Model != "" {
		args = append(args, "--model", t.Model)
	}
	switch {
	case t.Resume != "":
		args = append(args, "--resume", t.Resume)
	case t.Session != "":
		args = append(args, "--session-id", t.Session)
	}
	return args
}
