package redact

import (
	"encoding/json"
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// spellings are the ways in which programs write one character of a value, or
// one byte that is no character: as it is, escaped for a shell, a program text,
// JSON, a URL or a page, and some of these inside others. A letter or a digit
// is only ever itself (none are given).
//
// Which escape a program chooses depends on the program, its settings and what
// stands around the character, so that each is tried for each character.
func spellings(raw string) []string {
	if len(raw) == 1 && alnum(raw[0]) {
		return nil
	}
	once := append([]string{raw}, byBytes(raw)...)
	if r, size := utf8.DecodeRuneInString(raw); r != utf8.RuneError || size > 1 {
		once = append(once, byRune(r)...)
	} else {
		once = append(once, "\ufffd", `\ufffd`, fmt.Sprintf(`\udc%02x`, raw[0]))
	}
	once = append(once, special[raw]...)
	if len(raw) == 1 {
		once = append(once, `\`+raw, `\\\`+raw)
	}
	all := slices.Clone(once)
	for _, s := range once {
		all = append(all, twice(s)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// special are the short escapes, and those of quotes that end and begin again.
var special = map[string][]string{
	"\a": {`\a`}, "\b": {`\b`}, "\t": {`\t`, "&Tab;"}, "\v": {`\v`}, "\f": {`\f`}, "\r": {`\r`}, "\x1b": {`\e`, `\E`},
	"\n": {`\n`, "\r\n", `\r\n`, `'$'\n''`, "&NewLine;"},
	" ":  {"+", "&nbsp;"},
	"'":  {`''`, `'\''`, `'"'"'`, "&apos;", "&rsquo;"},
	`"`:  {`""`, "&quot;"},
	"&":  {"&amp;"}, "<": {"&lt;"}, ">": {"&gt;"}, "$": {"$$"}, "%": {"%%"}, "`": {"``"},
}

// byBytes writes every byte of a character by its number.
func byBytes(raw string) (all []string) {
	for _, form := range []string{`\x%02x`, `\x%02X`, `\%03o`, `%%%02X`, `%%%02x`, `=%02X`} {
		var b strings.Builder
		for _, c := range []byte(raw) {
			fmt.Fprintf(&b, form, c)
		}
		all = append(all, b.String())
	}
	return all
}

// byRune writes a character by its number.
func byRune(r rune) (all []string) {
	units := utf16.AppendRune(nil, r)
	for _, form := range []string{`\u%04x`, `\u%04X`, `%%u%04X`} {
		var b strings.Builder
		for _, u := range units {
			fmt.Fprintf(&b, form, u)
		}
		all = append(all, b.String())
	}
	forms := []string{`\U%08x`, `\U%08X`, `\u{%x}`, `\u{%X}`, `\x{%x}`, "&#%d;", "&#%03d;", "&#x%x;", "&#x%X;", "&#x%02x;", "&#x%02X;", "&#x%04x;"}
	if r < 0x100 {
		forms = append(forms, `\x%02x`, `\x%02X`, `%%%02X`)
	}
	for _, form := range forms {
		all = append(all, fmt.Sprintf(form, r))
	}
	return all
}

// twice is an escape that was escaped once more: JSON in JSON or in a shell's
// quotes, JSON in a URL, a URL in a URL, JSON or a page in a page.
func twice(s string) (all []string) {
	if strings.ContainsAny(s, `\"`) {
		all = append(all, jsonText(s), html.EscapeString(s), strings.ReplaceAll(s, `"`, "&quot;"))
	}
	if strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "%") && len(s) > 1 {
		all = append(all, percent(s))
	}
	if strings.HasPrefix(s, "&") {
		all = append(all, strings.Replace(s, "&", "&amp;", 1), strings.Replace(s, "&", `\u0026`, 1))
	}
	if strings.HasPrefix(s, `\`) {
		all = append(all, strings.ReplaceAll(s, `\`, `\\`), strings.ReplaceAll(s, "'", "&#x27;"))
	}
	return all
}

// jsonText is v inside a JSON string.
func jsonText(v string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return v // a string always encodes
	}
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// percent is v in a URL in which all but letters, digits and -_.~ is escaped.
func percent(v string) string {
	var b strings.Builder
	for _, c := range []byte(v) {
		if alnum(c) || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
