package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// patterns is what to look for, each once, in byte order.
func patterns(values []string) [][]byte {
	var all [][]byte
	for _, v := range values {
		v = strings.TrimSpace(v) // a newline after the value in a file is often lost on the way
		if len(v) < MinLen {
			continue
		}
		for _, e := range encodings(v) {
			if len(e) >= MinLen {
				all = append(all, []byte(e))
			}
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// encodings is the value as it is and as programs print it.
func encodings(v string) []string {
	lower := hex.EncodeToString([]byte(v))
	out := []string{
		v,
		jsonText(v, true), jsonText(v, false), jsonASCII(v),
		url.QueryEscape(v), lowerPercent(url.QueryEscape(v)),
		url.PathEscape(v), lowerPercent(url.PathEscape(v)),
		percent(v, ""), lowerPercent(percent(v, "")), percent(v, "/"), lowerPercent(percent(v, "/")),
		strings.ReplaceAll(v, `'`, `'\''`), strings.ReplaceAll(v, `'`, `'"'"'`), strings.ReplaceAll(v, `'`, `''`),
		backslashed(v, " \t!\"#$&'()*,;<=>?[\\]^`{|}~"), backslashed(v, "\"$`\\"),
		html.EscapeString(v), jsonText(jsonText(v, false), false),
		lower, strings.ToUpper(lower), spaced(lower, " "), spaced(lower, ":"), spaced(strings.ToUpper(lower), ":"),
	}
	out = append(out, wrapped(v)...)
	out = append(out, windows(v, base64.RawStdEncoding)...)
	return append(out, windows(v, base64.RawURLEncoding)...)
}

// percent is v in a URL in which all but letters, digits, -_.~ and keep is escaped.
func percent(v, keep string) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.~"+keep, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// backslashed is v with a backslash before each of the marks, as shells print it.
func backslashed(v, marks string) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		if strings.IndexByte(marks, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// spaced is hex with something between the bytes.
func spaced(hex, between string) string {
	var parts []string
	for i := 0; i+2 <= len(hex); i += 2 {
		parts = append(parts, hex[i:i+2])
	}
	return strings.Join(parts, between)
}

// wrapped is the lines of v in base64 that is broken after 76 or 64 characters,
// as programs print it when v is all they encode.
func wrapped(v string) []string {
	var out []string
	for _, width := range []int{57, 48} { // bytes in a line
		for from := 0; from < len(v) && len(v) > width; from += width {
			out = append(out, base64.StdEncoding.EncodeToString([]byte(v[from:min(len(v), from+width)])))
		}
	}
	return out
}

// windows is how v looks inside the base64 of a longer text, at each of the
// three places it can begin at. Characters that also hold bits of a neighbour
// are left off, since they differ from text to text.
func windows(v string, enc *base64.Encoding) []string {
	var out []string
	for lead := range 3 {
		padded := append(make([]byte, lead), v...)
		from := (8*lead + 5) / 6
		to := max(from, 8*len(padded)/6) // nothing has no window
		out = append(out, enc.EncodeToString(padded)[from:to])
	}
	return out
}

// jsonText is v inside a JSON string, with or without <, > and & escaped.
func jsonText(v string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(v); err != nil {
		return v // a string always encodes
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// jsonASCII is v inside a JSON string in which all but ASCII is escaped, as
// some languages write it by default.
func jsonASCII(v string) string {
	var b strings.Builder
	for _, r := range jsonText(v, false) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// lowerPercent is percent-escaped text with the escapes in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}
