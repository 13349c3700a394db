package receipt

import (
	"slices"

	"github.com/belay-run/belay/story"
)

// swept adds the uncommitted work of before that agents took away from a tree that is
// the user's: no commit has it. It gives how many files more there are.
func (c *Changes) swept(t *sighted) (more int) {
	if t.Own {
		return 0
	}
	made := map[string]bool{} // by agents
	for _, ch := range t.seen {
		gone := false
		for _, f := range ch.Changed {
			if !made[f.Path] && (ch.TakenBack || slices.Contains(ch.Gone, f.Path)) {
				c.file(f, ch.Name())
				c.Added, c.Deleted, gone = c.Added+f.Added, c.Deleted+f.Deleted, true
			}
			made[f.Path] = true
		}
		if !gone {
			continue
		}
		if ch.TakenBack {
			more += max(0, ch.Files-len(ch.Changed))
		}
		if !slices.ContainsFunc(c.Trees, func(have Tree) bool { return have.Dir == t.Dir }) {
			c.Trees = append(c.Trees, t.Tree)
		}
	}
	return more
}

// broughtBack are the commands that bring back uncommitted work of before that agents
// took away from a tree that is the user's.
func (m *maker) broughtBack(changes []story.Change) []Command {
	var list []Command
	for i := range changes {
		c := &changes[i]
		if _, made := m.made(c.Dir); made || len(c.Gone) == 0 || c.Earlier == "" || m.Commit(m.repo(), c.Earlier) == "" {
			continue
		}
		words := []string{"checkout", c.Earlier, "--"}
		for _, path := range c.Gone {
			words = append(words, ":/"+path)
		}
		if c.TakenBack && c.Files > len(c.Gone) {
			words = append(words[:3], ":/")
		}
		list = append(list, Command{"bring back uncommitted work that an agent took away, in the place of what is there now", m.git(c.Dir, words...)})
	}
	return list
}
