package expr

// Pieces are the plain parts and the placeholders of a text, each a text of
// its own, in their order.
func (t *Text) Pieces() []*Text {
	list := make([]*Text, 0, len(t.parts))
	for _, p := range t.parts {
		piece := &Text{src: p.plain, parts: []part{p}}
		if p.hole != nil {
			piece.parts[0].col = 1
			piece.src = t.src
		}
		list = append(list, piece)
	}
	return list
}
