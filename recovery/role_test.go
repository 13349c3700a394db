package recovery

import "testing"

// promise: R6
func TestRolesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Role{
		"coder": Coder, "Coder": Coder, "document_writer": DocumentWriter, "documentwriter": DocumentWriter, "DocumentWriter": DocumentWriter,
		"SECURITY_AUDITOR": SecurityAuditor, "securityauditor": SecurityAuditor, "devops": DevOps, "DevOps": DevOps, "dev_ops": DevOps,
		"custom:Poet": "custom:Poet", "Custom:x_y": "custom:x_y",
	} {
		if got, err := ParseRole(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "_", "custom:", "poet", "coder ", "custom"} {
		if got, err := ParseRole(text); err == nil {
			t.Errorf("%q was taken for %q", text, got)
		}
	}
}
