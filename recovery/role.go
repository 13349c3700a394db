package recovery

import (
	"fmt"
	"strings"
)

// Role is who does a task: one of the list, or "custom:NAME".
type Role string

const (
	Orchestrator    Role = "orchestrator"
	Spec            Role = "spec"
	Coder           Role = "coder"
	Tester          Role = "tester"
	Reviewer        Role = "reviewer"
	Architect       Role = "architect"
	SecurityAuditor Role = "security_auditor"
	DevOps          Role = "devops"
	DocumentWriter  Role = "document_writer"
)

const customRole = "custom:"

// Roles is the whole list, without the custom ones.
func Roles() []Role {
	return []Role{Orchestrator, Spec, Coder, Tester, Reviewer, Architect, SecurityAuditor, DevOps, DocumentWriter}
}

// ParseRole reads a role: in any case, with underscores or without.
func ParseRole(text string) (Role, error) {
	if len(text) > len(customRole) && strings.EqualFold(text[:len(customRole)], customRole) {
		return Role(customRole + text[len(customRole):]), nil
	}
	bare := strings.ReplaceAll(strings.ToLower(text), "_", "")
	for _, r := range Roles() {
		if bare != "" && strings.ReplaceAll(string(r), "_", "") == bare {
			return r, nil
		}
	}
	return "", fmt.Errorf("role %q: not one of orchestrator, spec, coder, tester, reviewer, architect, security_auditor, devops, document_writer, custom:NAME", text)
}

// UnmarshalText reads a role as ParseRole does.
func (r *Role) UnmarshalText(text []byte) error {
	got, err := ParseRole(string(text))
	if err != nil {
		return err
	}
	*r = got
	return nil
}
