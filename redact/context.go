package redact

import "bytes"

// header looks for "Authorization: Bearer VALUE", in a header, in JSON or on a
// command line. More may stand before the name, and nothing behind it.
func (s *shapes) header(start int) {
	rest := s.b[start:]
	n := min(len(rest), len(authorization))
	if !bytes.EqualFold(rest[:n], []byte(authorization[:n])) {
		return
	}
	to := start + n
	if to == len(s.b) {
		if !s.final {
			s.wait(start)
		}
		return
	}
	value, ok := s.scheme(to)
	if !ok {
		if value == len(s.b) && !s.final {
			s.wait(start)
		}
		return
	}
	end := s.end(classHead, value)
	switch {
	case end-value >= minHead:
		s.add(start, value, end, classHead)
	case end == len(s.b) && !s.final:
		s.wait(start)
	}
}

// scheme reads from behind the name up to the value: where that begins, or how
// far it came.
func (s *shapes) scheme(i int) (int, bool) {
	i = s.gap(i)
	if i == len(s.b) || s.b[i] != ':' && s.b[i] != '=' {
		return i, false
	}
	i = s.gap(i + 1)
	for _, word := range schemes {
		rest := s.b[i:]
		if n := min(len(rest), len(word)); !bytes.EqualFold(rest[:n], []byte(word[:n])) {
			continue
		} else if n < len(word) {
			return len(s.b), false
		}
		at := i + len(word)
		value := s.gap(at)
		return value, value > at && value < len(s.b)
	}
	return i, false
}

// gap is where a few blanks and quotes end.
func (s *shapes) gap(i int) int {
	for n := 0; n < maxGap && i < len(s.b); n++ {
		switch s.b[i] {
		case ' ', '\t', '"', '\'', '\\':
			i++
		default:
			return i
		}
	}
	return i
}

// marked calls found for every place where a mark stands, and waits when the
// piece ends with the beginning of one.
func (s *shapes) marked(mark string, found func(at int)) {
	for i := 0; ; i += len(mark) {
		n := bytes.Index(s.b[i:], []byte(mark))
		if n < 0 {
			break
		}
		i += n
		found(i)
	}
	if s.final {
		return
	}
	for n := min(len(mark)-1, len(s.b)); n > 0; n-- {
		if string(s.b[len(s.b)-n:]) == mark[:n] {
			s.wait(len(s.b) - n)
			return
		}
	}
}

// key hides what stands between the marks of a private key, which begins at i.
func (s *shapes) key(i int) {
	label := s.b[i+len(keyBegin):]
	label = label[:min(len(label), maxLabel)]
	n := bytes.Index(label, []byte(keyDash))
	if n < 0 {
		if len(label) < maxLabel && !s.final {
			s.wait(i)
		}
		return
	}
	if !bytes.Contains(label[:n], []byte(keyLabel)) {
		return
	}
	from := i + len(keyBegin) + n + len(keyDash)
	to, open := s.keyEnd(from)
	switch {
	case to > from:
		s.spans = append(s.spans, span{i, from, to, open})
	case open != 0:
		s.wait(i)
	}
}

// keyEnd is where the body of a key ends: at five dashes, or at a byte that no
// key has. Dashes at the end of the piece wait for the next one.
func (s *shapes) keyEnd(from int) (to int, open class) {
	to = s.end(classKey, from)
	if n := bytes.Index(s.b[from:to], []byte(keyDash)); n >= 0 {
		return from + n, 0
	}
	if to < len(s.b) || s.final {
		return to, 0
	}
	for n := 1; n < len(keyDash) && to > from && s.b[to-1] == '-'; n++ {
		to--
	}
	s.wait(to)
	return to, classKey
}

// password hides the one in the user part of a URL, whose mark stands at i.
func (s *shapes) password(i int) {
	from := i + len(urlMark)
	to := from
	for most := min(len(s.b), from+2*maxUser); to < most && sets[s.b[to]]&classPass != 0; {
		to++
	}
	switch {
	case to-from >= 2*maxUser:
		return
	case to == len(s.b):
		if !s.final {
			s.wait(i)
		}
		return
	}
	colon := bytes.IndexByte(s.b[from:to], ':')
	if s.b[to] == '@' && colon >= 0 && from+colon+1 < to {
		s.add(i, from+colon+1, to, 0)
	}
}
