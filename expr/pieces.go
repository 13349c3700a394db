package expr

// Pieces are the plain parts and the placeholders of a text, each a text of
// its own, in their order.
func (t *Text) Pieces() []*Text {
	var list []*Text
	plain := func(src string) {
		if src != "" {
			list = append(list, &Text{src: src, parts: []part{{plain: src, col: 1}}})
		}
	}
	if t.Literal() { // whatever it looks like
		plain(t.src)
		return list
	}
	at := 0
	for _, h := range Holes(t.src) {
		if h.Value == nil { // it stands for itself
			continue
		}
		plain(t.src[at:h.Start])
		h.Value.lenient = t.lenient
		list = append(list, h.Value)
		at = h.End
	}
	plain(t.src[at:])
	return list
}
