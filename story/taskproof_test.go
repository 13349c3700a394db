package story

import "testing"

func TestWhatCriteriaLack(t *testing.T) {
	t.Parallel()
	of := func(id, verdict string, files ...string) TaskCriterion {
		return TaskCriterion{ID: id, Verdict: verdict, Rewritten: files}
	}
	for want, list := range map[string][]TaskCriterion{
		"each criterion has a check": {of("c1", "met"), of("c2", "unproven")},
		`c1 has "files": ["lib.sh"] (only if that is the program, and no check of it)`:                                 {of("c1", "unproven", "lib.sh"), of("c2", "met")},
		`c1 has "files": ["a.sh", "Makefile"] (only if that is the program, and no check of it)`:                       {of("c1", "unproven", "a.sh", "Makefile")},
		`c2 has "files": ["lib.sh"] (only if that is the program, and no check of it), and each criterion has a check`: {of("c1", "unproven"), of("c2", "unproven", "lib.sh")},
	} {
		if got := (&Task{Criteria: list}).ToProve(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
