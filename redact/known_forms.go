package redact

// class is a set of bytes that a secret goes on with.
type class uint8

const (
	classAlnum class = 1 << iota // letters and digits
	classWord                    // and _
	classDash                    // and _ and -
	classToken                   // and _ and - and .
	classUpper                   // capitals and digits
	classHead                    // what the value of a header is made of
	classKey                     // the body of a private key, its own headers included
	classPass                    // a password inside a URL, or the user before it
)

// sets says of each byte which classes it belongs to.
var sets = makeSets()

func makeSets() (t [256]class) {
	add := func(bytes string, c class) {
		for i := range len(bytes) {
			t[bytes[i]] |= c
		}
	}
	const upper, lower, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"
	add(upper+digits, classUpper)
	add(upper+lower+digits, classAlnum|classWord|classDash|classToken|classHead|classKey)
	add("_", classWord|classDash|classToken|classHead)
	add("-", classDash|classToken|classHead|classKey)
	add(".", classToken|classHead)
	add("~+/=:%", classHead)
	add("+/= \t\r\n\\:,", classKey)
	for c := byte('!'); c < 0xff; c++ {
		t[c] |= classPass
	}
	for _, c := range []byte("/@?#\"'<>\\`") {
		t[c] &^= classPass
	}
	return t
}

// token is the shape of a kind of secret that is known by how it begins.
type token struct {
	prefix string
	strong bool  // the prefix is telling wherever it stands; else only where a word begins
	body   class // what it goes on with
	least  int   // bytes after the prefix
	exact  bool  // and not one more
	mixed  bool  // with a digit or a capital among the first ones, unlike-words-with-dashes
}

// tokens are the shapes by their first byte.
var tokens = [256][]token{
	'g': {
		{prefix: "ghp_", strong: true, body: classWord, least: 20},
		{prefix: "gho_", strong: true, body: classWord, least: 20},
		{prefix: "ghs_", strong: true, body: classWord, least: 20},
		{prefix: "ghu_", strong: true, body: classWord, least: 20},
		{prefix: "ghr_", strong: true, body: classWord, least: 20},
		{prefix: "github_pat_", strong: true, body: classWord, least: 20},
		{prefix: "glpat-", strong: true, body: classDash, least: 20},
	},
	's': {
		{prefix: "sk-ant-", strong: true, body: classDash, least: 16},
		{prefix: "sk-", body: classDash, least: 24, mixed: true},
	},
	'x': {
		{prefix: "xoxa-", strong: true, body: classDash, least: 10},
		{prefix: "xoxb-", strong: true, body: classDash, least: 10},
		{prefix: "xoxp-", strong: true, body: classDash, least: 10},
		{prefix: "xoxr-", strong: true, body: classDash, least: 10},
		{prefix: "xoxs-", strong: true, body: classDash, least: 10},
	},
	'A': {
		{prefix: "AKIA", body: classUpper, least: 16, exact: true},
		{prefix: "ASIA", body: classUpper, least: 16, exact: true},
		{prefix: "AIza", body: classDash, least: 35},
	},
	'n': {{prefix: "npm_", body: classAlnum, least: 30}},
}

// The signed token of JSON: three parts with dots between.
const (
	signed     = "eyJ" // {" in base64
	signedPart = 8     // the shortest part that counts
	maxPart    = 4 << 10
)

const (
	authorization = "authorization"
	minHead       = 6 // bytes of the value that a header carries
	maxGap        = 8 // blanks and quotes in a row
)

// schemes are how the value of that header begins.
var schemes = [...]string{"bearer", "basic", "token"}

const (
	keyBegin = "-----BEGIN "
	keyLabel = "PRIVATE KEY"
	keyDash  = "-----"
	maxLabel = 64
)

const (
	urlMark = "://"
	maxUser = 256 // bytes of the user, and of the password
)

// addTokens makes the first bytes of every token known, and those of the header's name
// in small and capital letters.
func (f *filter) addTokens() {
	for _, list := range tokens {
		for _, k := range list {
			f.add(word([]byte(k.prefix)))
		}
	}
	f.add(word([]byte(signed)))
	for capitals := range 1 << startLen {
		name := []byte(authorization[:startLen])
		for k := range name {
			name[k] -= byte(capitals>>k&1) * ('a' - 'A')
		}
		f.add(word(name))
	}
}
