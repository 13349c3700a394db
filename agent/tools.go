package agent

import (
	"slices"
	"strings"
)

// HeedsTools tells whether single tools can be allowed to agents of a kind.
func HeedsTools(kind Kind) bool {
	a, ok := New(kind)
	return ok && a.Traits().Tools
}

// more is a list of tools with others behind it, each once.
func more(tools, others []string) []string {
	list := slices.Clone(tools)
	for _, tool := range others {
		if !slices.Contains(list, tool) {
			list = append(list, tool)
		}
	}
	return list
}

// less is a list of tools without those that others name, be it for some uses
// only: Edit(docs/**) is Edit. What is not allowed would win over what is.
func less(tools, others []string) []string {
	var list []string
	for _, tool := range tools {
		if !slices.ContainsFunc(others, func(o string) bool { name, _, _ := strings.Cut(o, "("); return name == tool }) {
			list = append(list, tool)
		}
	}
	return list
}

// listed is a flag with a list of tools, none without tools. The sign between
// them keeps a flag that takes many values from taking what follows.
func listed(flag string, tools []string) []string {
	if len(tools) == 0 {
		return nil
	}
	return []string{flag + "=" + strings.Join(tools, ",")}
}

// eachOf is a flag once for each tool.
func eachOf(flag string, tools []string) []string {
	var args []string
	for _, tool := range tools {
		args = append(args, flag+"="+tool)
	}
	return args
}
