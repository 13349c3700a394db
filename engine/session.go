package engine

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/hand"
	"github.com/belay-run/belay/ledger"
)

// The variables that carry a session's place to its children. They only help:
// what counts is in the index, and from outside they can only tighten.
const (
	envTree        = "TREE_ID"
	envDepth       = "SESSION_DEPTH"
	envMaxDepth    = "MAX_DEPTH"
	envMaxSessions = "MAX_SESSIONS"
)

// prefixes are the spellings, ours first.
var prefixes = [...]string{"BELAY_", "AMPLIHACK_"}

// enter registers the run in the tree of sessions, or is refused.
func (o *Open) enter() (belay.Session, error) {
	origin, err := FindOrigin(o.local.State)
	if err == nil {
		err = o.openBooks(origin)
	}
	if err != nil {
		return belay.Session{}, err
	}
	claim := ledger.Claim{
		Run: o.books.name, Driver: o.self, Ancestors: origin.Ancestors,
		Kin: o.kin(origin), Levels: len(origin.Keepers), Env: readPlace(o.local.Env),
	}
	s, err := o.books.state.Ledger().Enter(claim)
	s.Starter = o.session.Starter
	if s.Starter == "" && len(origin.Keepers) > 0 {
		s.Starter = origin.Keepers[0].Attempt()
	}
	if err == nil && o.books.other {
		s.Home, s.Name, claim.Run = o.session.Home, o.session.Name, o.ID
		err = o.local.State.Ledger().Join(claim, s)
	}
	var limit *ledger.Limit
	if errors.As(err, &limit) {
		return s, exit.New(exit.Failed, "start run",
			&belay.Failure{Kind: belay.RecursionLimit, Cause: limit.Error()},
			"see the sessions with belay tree; wait for one to end, or do not start belay inside its own steps")
	}
	return s, err
}

// readPlace reads what the environment says about the tree. The depth there is
// that of the session whose step we are in: ours is one more.
func readPlace(env []string) ledger.Env {
	tree, _ := lookup(env, envTree)
	place := ledger.Env{Tree: tree}
	if n, ok := number(env, envDepth, &place.Malformed); ok {
		place.Depth = n + 1
	}
	if n, ok := number(env, envMaxDepth, &place.Malformed); ok {
		place.MaxDepth = &n
	}
	if n, ok := number(env, envMaxSessions, &place.Malformed); ok {
		place.MaxSessions = &n
	}
	return place
}

// LastLevel tells whether a run that is started with this environment is as deep in
// its tree of sessions as one may be: what it starts may start no other.
func LastLevel(env []string) bool {
	place, most := readPlace(env), ledger.DefaultMaxDepth
	if place.MaxDepth != nil {
		most = min(most, *place.MaxDepth)
	}
	return place.Depth == most // one that is deeper is refused
}

// lookup gives the value of a variable and the spelling it was found under.
func lookup(env []string, name string) (value, spelling string) {
	for _, p := range prefixes {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, p+name+"="); ok && v != "" {
				return v, p + name
			}
		}
	}
	return "", ""
}

// number reads a variable; one that is no number is named in bad.
func number(env []string, name string, bad *string) (int, bool) {
	text, spelling := lookup(env, name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		*bad = spelling
		return 0, false
	}
	return n, true
}

// environment is what all steps of the run get: the environment of Belay
// itself without what belongs to other sessions, and the place in the tree.
func (o *Open) environment() []string {
	var env []string
	for _, kv := range o.local.Env {
		if !ours(kv) {
			env = append(env, kv)
		}
	}
	s := o.session
	for _, p := range prefixes {
		env = append(env,
			p+envTree+"="+s.Tree,
			p+envDepth+"="+strconv.Itoa(s.Depth),
			p+envMaxDepth+"="+strconv.Itoa(s.MaxDepth),
			p+envMaxSessions+"="+strconv.Itoa(s.MaxSessions))
	}
	// A belay inside a step must count in the same index.
	env = append(env, "BELAY_RUN_ID="+string(o.ID), "BELAY_STATE="+o.local.State.Dir())
	if len(o.local.Keeper) > 0 {
		env = append(env, "BELAY_PROGRAM="+o.local.Keeper[0]) // it need not be on the PATH
	}
	return hand.WithSecrets(env, o.Tree.Library(), slices.Concat(o.local.Secrets, o.Tree.Started().Secrets)...)
}

// ours tells variables that Belay sets for its children and that must not be
// handed on from an outer session, and those that would confuse an agent.
func ours(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	switch name {
	case "BELAY_MARK", "BELAY_KEY", "BELAY_RUN_ID", "BELAY_STATE", "BELAY_PROGRAM", "BELAY_STEP", "BELAY_ITEM", "BELAY_ATTEMPT", "CLAUDECODE":
		return true
	}
	for _, p := range prefixes {
		switch name {
		case p + envTree, p + envDepth, p + envMaxDepth, p + envMaxSessions:
			return true
		}
	}
	return false
}
