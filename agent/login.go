package agent

// LoggedOut reads the answer to AskLogin. Only a clear no is one: a version
// without the command, a wrapper or a hang says nothing.
func LoggedOut(kind Kind, out, talk string, exit int) bool {
	reads := Known(kind).LoggedOut
	return exit == 1 && reads != nil && reads(out, talk)
}
