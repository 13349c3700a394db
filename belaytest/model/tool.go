package model

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// call is a request to the CLI to use one of its tools.
type call struct {
	name   string
	args   map[string]any
	custom string // for a tool that takes free text: the text
}

// writers are the tools that write a file, in the order of choice, by the name
// under which a CLI offers them.
func writers(path, content string) []call {
	return []call{
		{name: "Write", args: map[string]any{"file_path": path, "content": content}},
		{name: "write_file", args: map[string]any{"file_path": path, "content": content}},
		{name: "write", args: map[string]any{"filePath": path, "content": content}},
		{name: "create", args: map[string]any{"path": path, "file_text": content}},
	}
}

// shells are the tools that run a command.
func shells(command string) []call {
	about := "A command of the test"
	return []call{
		{name: "Bash", args: map[string]any{"command": command, "description": about}},
		{name: "exec_command", args: map[string]any{"cmd": command}},
		{name: "shell_command", args: map[string]any{"command": command}},
		{name: "shell", args: map[string]any{"command": []string{"bash", "-c", command}}},
		{name: "run_shell_command", args: map[string]any{"command": command, "description": about, "is_background": false}},
		{name: "bash", args: map[string]any{"command": command, "description": about}},
	}
}

// patchers are the tools that take a patch.
func patchers(path, content string) []call {
	var b strings.Builder
	fmt.Fprintf(&b, "*** Begin Patch\n*** Add File: %s\n", path)
	for line := range strings.SplitSeq(content, "\n") {
		fmt.Fprintf(&b, "+%s\n", line)
	}
	b.WriteString("*** End Patch\n")
	return []call{{name: "apply_patch", custom: b.String()}}
}

// writeFile is the call that writes a file with what the CLI offers; nil when
// it offers nothing that could.
func writeFile(offered []string, name, content string) *call {
	command := "mkdir -p " + quote(path.Dir(name)) + " && printf '%s' " + quote(content) + " > " + quote(name)
	return pick(offered, slices.Concat(writers(name, content), shells(command), patchers(name, content)))
}

func runCommand(offered []string, command string) *call {
	return pick(offered, shells(command))
}

func pick(offered []string, known []call) *call {
	for _, c := range known {
		if slices.Contains(offered, c.name) {
			return &c
		}
	}
	return nil
}

// quote makes one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
