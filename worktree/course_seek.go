package worktree

// seeker looks for simple commands of a kind.
type seeker struct {
	course
	is     func(words []string) bool
	places []string // where they stand, each time
}

// seek follows a whole command that exited with 0.
func seek(command string, is func(words []string) bool) (s *seeker, end fate) {
	s = &seeker{is: is}
	s.course = begin(s, true)
	end = s.read(command, true)
	if s.spent > maxSpent {
		end, s.come = lost, false
	}
	return s, end
}

func (s *seeker) simple(o order) fate {
	if s.quiet > 0 || !s.is(o.words) {
		return absent
	}
	s.come = s.come || s.near()
	if len(s.places) < maxCourse {
		s.places = append(s.places, worksAt(s.at, o.words))
	}
	return told
}

func (s *seeker) redirected(order) {}
func (s *seeker) unknown()         {}
