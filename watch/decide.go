package watch

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay"
)

// Decide looks at one run. The memory that it gives back has to be kept before
// anything is done; when it cannot be kept, nothing may be started.
func Decide(r Run, m Memory, rules Rules, now Clock) (Decision, Memory) {
	m = m.seen(r, now)
	d := decide(r, m, rules, now)
	d.Run = r.ID
	if d.Start {
		m = m.started(r, d.Wake, now)
		d.Count, d.Most = m.Resumes, rules.Resumes
	}
	d.Shown = m.Event == d.Event && m.Reason == d.Reason && !d.Start
	m.Event, m.Reason = d.Event, d.Reason
	return d, m
}

// seen takes in what a look tells: finished work, another driver, another boot.
func (m Memory) seen(r Run, now Clock) Memory {
	first := m.Boot == ""
	if m.Boot != now.Boot { // times of another boot mean nothing
		m.Boot, m.Moved, m.Dead, m.Frozen = now.Boot, now.Awake, 0, 0
	}
	if r.Done > m.Done || first {
		if !first {
			m.Resumes, m.Exit, m.Same = 0, "", 0
		}
		m.Done, m.Moved = max(m.Done, r.Done), now.Awake
	}
	if r.Driver != m.Driver {
		m.Driver, m.Moved = r.Driver, now.Awake // a new one gets the whole time
	}
	switch {
	case r.Owner == OwnerFrozen && m.Frozen == 0:
		m.Frozen = max(now.Awake, 1)
	case r.Owner != OwnerFrozen && m.Frozen != 0:
		m.Moved += now.Awake - m.Frozen // it could not work meanwhile
		m.Frozen = 0
	}
	switch {
	case r.Owner != OwnerDead || r.rests(now):
		m.Dead = 0
	case m.Dead == 0:
		m.Dead = max(now.Awake, 1)
	}
	return m
}

// rests tells whether nobody is to drive a run now: that is not counted against it
// when somebody lets it go on.
func (r Run) rests(now Clock) bool {
	switch r.Status {
	case belay.Held, belay.Paused, belay.Stopped:
		return true
	case belay.Achieved, belay.Failed, belay.Partial, belay.Hollow, belay.NotAchieved, belay.Stalemate, belay.Aborted, belay.Running, belay.Parked:
	}
	return !r.Parked.IsZero() && r.Mail.IsZero() && now.Wall.Before(r.Parked)
}

// started counts a try. A run that left its processes on purpose is only woken,
// once for each time that it did so.
func (m Memory) started(r Run, wake bool, now Clock) Memory {
	if wake {
		m.Woken = r.due()
	} else {
		m.Resumes++
		m.Total++
	}
	m.Dead, m.Moved = 0, now.Awake
	return m
}

// Ended takes in how a driver ended that the watch had started. Only one that
// ended in the same way before, with nothing finished since, is counted.
func (m Memory) Ended(how string) Memory {
	if m.Exit != how {
		m.Exit, m.Same = how, 0
	}
	m.Same++
	return m
}

func decide(r Run, m Memory, rules Rules, now Clock) Decision {
	switch {
	case r.Unread != "":
		return person("its journal cannot be read: "+r.Unread, "doctor")
	case !r.Begun && r.Owner == OwnerDead:
		if m.left(rules, now) {
			return person("its driver died before the first record: nothing was done, and nothing can go on; start it again", "gc")
		}
		return Decision{Event: Stale, Reason: "its driver died before the first record"}
	}
	switch r.Status {
	case belay.Achieved:
		return Decision{Event: Complete, Reason: "it reached its goal", Rest: true}
	case belay.Stalemate:
		return halt(r)
	case belay.Failed, belay.Partial, belay.NotAchieved, belay.Hollow, belay.Aborted:
		return Decision{Event: Failed, Reason: strings.TrimSuffix("it ended "+string(r.Status)+": "+r.Reason, ": "), Next: "why " + string(r.ID), Rest: true}
	case belay.Held:
		return person("it is held: "+orElse(r.Reason, "a question waits for an answer"), "inbox")
	case belay.Stopped:
		return person("it was stopped"+behind(": ", r.Reason), "resume "+string(r.ID))
	case belay.Paused:
		return person("it was paused"+behind(": ", r.Reason), "resume "+string(r.ID))
	case belay.Running, belay.Parked:
	}
	switch r.Owner {
	case OwnerAlive:
		return alive(r, m, rules, now)
	case OwnerFrozen:
		return Decision{Event: Running, Reason: "its driver is stopped by a signal (kill -CONT lets it go on)"}
	case OwnerUnproven:
		return person("it cannot be told whether its driver lives", "runs")
	case OwnerDead:
	}
	return dead(r, m, rules, now)
}

// alive is about a run that is driven: finished work is all that counts.
func alive(r Run, m Memory, rules Rules, now Clock) Decision {
	still := now.Awake - m.Moved
	switch {
	case still <= rules.Stall:
		return Decision{Event: Running, Reason: "it is driven"}
	case r.Waits != "", now.Wall.Before(r.Until) && r.Tried < restless:
		return Decision{Event: Running, Reason: "it waits" + behind(" for ", r.Waits)}
	case now.Wall.Before(r.Allowed) && r.Tried < restless:
		return Decision{Event: Running, Reason: "its open attempts are within their own limits"}
	}
	tried := ""
	if r.Tried >= restless {
		tried = fmt.Sprintf(", in %d or more attempts", restless)
	}
	d := person(fmt.Sprintf("its driver lives, and nothing was finished for more than %s%s", text(rules.Stall), tried), "why "+string(r.ID))
	d.Rest = false // it may come to something yet
	return d
}

// dead is about a run that nobody drives.
func dead(r Run, m Memory, rules Rules, now Clock) Decision {
	parked := !r.Parked.IsZero()
	wake := r.due()
	free := !wake.IsZero() && !wake.Equal(m.Woken) // the same one again is a driver that died before it did anything
	switch {
	case parked && r.rests(now):
		until := r.Parked.Add(time.Second - 1).UTC().Format(time.RFC3339) // a beat has no parts of a second
		return Decision{Event: Running, Reason: "it is parked until " + until + behind(" for ", r.For), Again: r.Parked}
	case r.Above != "":
		return person(fmt.Sprintf("a step of run %s started it, and that one is %s", r.Above, r.How), "resume "+string(r.Above))
	case !free && !m.left(rules, now):
		return Decision{Event: Stale, Reason: "nobody drives it; the watch acts when that has lasted " + text(stalePolls*rules.Poll)}
	case r.Stalemate != "":
		return halt(r)
	case len(r.Lacks) > 0:
		d := person("its steps were given variables that are not set here: "+strings.Join(r.Lacks, ", ")+
			"; set them for the watch (EnvironmentFile= in its unit) or resume the run in a shell that has them", "resume "+string(r.ID))
		d.Needs = r.Lacks
		return d
	case m.Same >= sameExits:
		return person("the driver that was started for it ended the same way "+times(m.Same)+": "+m.Exit, "resume "+string(r.ID))
	case free && !r.Mail.IsZero():
		return Decision{Event: Resumed, Reason: "somebody asks something of it", Start: true, Wake: true}
	case free && parked:
		return Decision{Event: Resumed, Reason: "it was parked, and its time has come", Start: true, Wake: true}
	case free:
		return Decision{Event: Resumed, Reason: "somebody answered", Start: true, Wake: true}
	case m.Resumes >= rules.Resumes:
		return capped(r, m.Resumes, rules.Resumes, "in a row with nothing finished")
	case m.Total >= rules.Total:
		return capped(r, m.Total, rules.Total, "in its life")
	}
	return Decision{Event: Resumed, Reason: "nobody drove it", Start: true}
}

// due is the moment that lets a run go on which left its processes on purpose.
func (r Run) due() time.Time {
	switch {
	case !r.Mail.IsZero():
		return r.Mail
	case !r.Parked.IsZero():
		return r.Parked
	}
	return r.Answered
}

// left tells whether nobody has driven a run for so long that it counts as left.
func (m Memory) left(rules Rules, now Clock) bool {
	return m.Dead != 0 && now.Awake-m.Dead >= stalePolls*rules.Poll
}

// Relieves decides whether a watch that stands by takes over from the one that leads,
// when that was found stopped by a signal at so many looks in a row. A short stop is none.
func Relieves(looks int) bool { return looks > stalePolls }

func person(reason, next string) Decision {
	return Decision{Event: NeedsYou, Reason: reason, Next: next, Rest: true}
}

// Uncounted is the decision about a run that nobody drives, when what is known of
// it cannot be kept: what is not counted is not tried. full is the directory whose disk
// has no space left, "" when that is not why.
func Uncounted(id belay.RunID, err error, full string) Decision {
	d := person("nobody drives it, and it is not started: a try cannot be counted: "+err.Error(), "doctor")
	if full != "" {
		d.Reason, d.Next = d.Reason+"; free space on "+full+", then resume it", "resume "+string(id)
	}
	d.Reason = strings.ReplaceAll(d.Reason, "\n", "; ") // one line
	d.Run, d.Shown = id, true
	return d
}

// Forgotten is the decision about a run of which the memory cannot be read: with
// nothing known, all tries would be given back.
func Forgotten(id belay.RunID, err error) Decision {
	d := person("what the watch has counted for it cannot be read: "+err.Error(), "clear "+string(id)+" restarts --why TEXT")
	d.Run, d.Shown = id, true
	return d
}

func halt(r Run) Decision {
	return Decision{
		Event: Stalemate, Reason: orElse(r.Stalemate, orElse(r.Reason, "another try would be the last one again")),
		Next: "why " + string(r.ID), Rest: true,
	}
}

func capped(r Run, n, most int, how string) Decision {
	return Decision{
		Event: RestartCap, Count: n, Most: most, Rest: true, Next: "clear " + string(r.ID) + " restarts --why TEXT",
		Reason: fmt.Sprintf("it was started again %s %s, and may be %s (why %s says what happened)", times(n), how, times(most), r.ID),
	}
}

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// behind puts words before a text, if there is one.
func behind(words, s string) string {
	if s == "" {
		return ""
	}
	return words + s
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// text is a duration as a person writes it.
func text(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}
