package agent

import "github.com/belay-run/belay"

const (
	// MaxLook is the longest command that anybody looks into. One that is longer
	// could hide anything behind what is seen of it.
	MaxLook = 64 << 10
	maxHeld = 4 << 20 // bytes of all whole commands that are kept until their end
)

// bounded cuts a command to what is looked at, and says so.
func bounded(call belay.ToolCall) belay.ToolCall {
	if len(call.Command) > MaxLook {
		call.Command, call.Masked = cut(call.Command, MaxLook), true
	}
	return call
}

// begin notes that a tool began. What was said before it is not the final text.
func (b *book) begin(id string, call belay.ToolCall) []Sign {
	b.pending = nil
	b.answer.set("")
	call = bounded(call)
	c := b.keep(call)
	if id != "" && len(b.open) < maxOpen {
		if b.open == nil {
			b.open = map[string]*belay.ToolCall{}
		}
		c.Open = true
		b.open[id] = c
		b.hold(id, call.Command, c)
	}
	shown := *c
	shown.Command, shown.Open = call.Command, true
	return []Sign{{Kind: SignTool, ID: id, Tool: &shown}}
}

// hold keeps a command that was cut for the record until its end is known.
func (b *book) hold(id, command string, c *belay.ToolCall) {
	switch {
	case len(command) <= maxCommand:
	case b.held+len(command) > maxHeld:
		c.Masked = true
	default:
		if b.whole == nil {
			b.whole = map[string]string{}
		}
		b.release(id)
		b.whole[id] = command
		b.held += len(command)
	}
}

// release gives the whole command of a call back, "" when it was not held.
func (b *book) release(id string) string {
	s := b.whole[id]
	delete(b.whole, id)
	b.held -= len(s)
	return s
}

// done notes that a tool ended. What the end tells is put over what the
// beginning told; an end without a beginning is a whole call.
func (b *book) done(id string, end belay.ToolCall) []Sign {
	b.pending = nil
	end = bounded(end)
	whole := b.release(id)
	c, ok := b.open[id]
	if ok {
		delete(b.open, id)
		c.Open = false
	} else {
		b.answer.set("")
		c = b.keep(belay.ToolCall{Name: "unknown"}) // it began in an earlier process
	}
	if end.Name != "" {
		c.Name = b.short(end.Name, maxName)
	}
	if end.Command != "" {
		whole = end.Command
		c.Command = b.short(end.Command, maxCommand)
	}
	if end.Path != "" {
		c.Path = b.short(end.Path, maxCommand)
	}
	if end.Exit != nil {
		c.Exit = end.Exit
		c.Failed = *end.Exit != 0
	}
	if end.Tally != nil {
		c.Tally = end.Tally
	}
	c.Failed = c.Failed || end.Failed
	c.Denied = c.Denied || end.Denied
	c.Masked = c.Masked || end.Masked
	b.doubt(id, c)
	shown := *c
	if whole != "" {
		shown.Command = whole
	}
	return []Sign{{Kind: SignDone, ID: id, Tool: &shown}}
}

// keep stores a call among the first or the last of them.
func (b *book) keep(call belay.ToolCall) *belay.ToolCall {
	call.Command = b.short(call.Command, maxCommand)
	call.Path = b.short(call.Path, maxCommand)
	call.Name = b.short(call.Name, maxName)
	c := &call
	b.res.ToolCount++
	if len(b.head) < maxHead {
		b.head = append(b.head, c)
		return c
	}
	if len(b.tail) == maxTail {
		b.tail = append(b.tail[:0], b.tail[1:]...)
	}
	b.tail = append(b.tail, c)
	return c
}

// doubt keeps a call of which nothing is told but that it failed.
func (b *book) doubt(id string, c *belay.ToolCall) {
	if id == "" || !c.Failed || c.Denied || c.Exit != nil || len(b.failed) >= maxOpen {
		return
	}
	if b.failed == nil {
		b.failed = map[string]*belay.ToolCall{}
	}
	b.failed[id] = c
}

// refused reads the list of refusals that ends a run of some CLIs. A call whose
// own end did not tell that is told once more.
func (b *book) refused(list []record) []Sign {
	var signs []Sign
	for _, d := range list {
		b.deny(d.str("tool_name"))
		id := d.str("tool_use_id")
		c := b.failed[id]
		if c == nil {
			continue
		}
		delete(b.failed, id)
		c.Denied = true
		shown := *c
		signs = append(signs, Sign{Kind: SignDone, ID: id, Tool: &shown})
	}
	return signs
}

// deny notes that a tool was refused to the agent.
func (b *book) deny(name string) {
	name = b.short(name, maxName)
	for _, d := range b.res.Denied {
		if d == name {
			return
		}
	}
	if name != "" && len(b.res.Denied) < maxDenied {
		b.res.Denied = append(b.res.Denied, name)
	}
}
