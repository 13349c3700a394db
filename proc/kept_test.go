package proc

import "testing"

// A keeper is known by its command line.
func TestKeptBy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		argv []string
		dir  string
	}{
		{"a keeper", []string{"/bin/belay", "keeper", "/s/runs/a", "/s/sock/a"}, "/s/runs/a"},
		{"started through another program", []string{"/loader", "/bin/belay", "keeper", "/s/runs/a", "/s/sock/a"}, "/s/runs/a"},
		{"a namespace", append([]string{"/bin/belay"}, append(NamespaceArgs("/s/runs/a", "/s/sock/a"), "claude", "-p")...), "/s/runs/a"},
		{"a namespace of doctor", []string{"/bin/belay", "nsinit", "--", "claude"}, ""},
		{"a driver", []string{"/bin/belay", "run", "keeper", "a.yaml"}, ""},
		{"paths that are none", []string{"zoo", "keeper", "of", "lions"}, ""},
		{"no command line", nil, ""},
	} {
		kept := KeptBy([]Relative{{Identity: Identity{Pid: 7}, Argv: c.argv}})
		switch {
		case c.dir == "" && len(kept) == 0:
		case len(kept) != 1 || kept[0].Dir != c.dir || kept[0].Socket != "/s/sock/a":
			t.Errorf("%s: %+v", c.name, kept)
		}
	}
}
