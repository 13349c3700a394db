package redact

import (
	"net/url"
	"slices"
	"strings"
)

// secretParts make a name secret wherever they stand in it.
var secretParts = [...]string{
	"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDS", "AUTHORIZATION", "BEARER", "COOKIE", "JWT",
	"APIKEY", "API_KEY", "PRIVATE_KEY", "PRIVATEKEY", "ACCESS_KEY", "ACCESSKEY", "DATABASE_URL",
	"CONNECTION_STRING",
}

// secretWords make a name secret as a whole word of it.
var secretWords = [...]string{"AUTH", "DSN", "OAUTH", "OAUTH2", "PAT", "SALT"}

// secretEnds make a name of several words secret as its last word.
var secretEnds = [...]string{"KEY", "PASS", "PWD"}

// placeEnds say that the value is where a secret is, not the secret.
var placeEnds = [...]string{"FILE", "PATH", "DIR", "SOCK"}

// Surely tells whether a variable of this name is made to hold a secret: it says
// so in full. A key or a way to log in may be one or not.
func Surely(name string) bool {
	name = strings.ToUpper(name)
	words := wordsOf(name)
	if len(words) == 0 || slices.Contains(placeEnds[:], words[len(words)-1]) || harmless(words) {
		return false
	}
	return slices.ContainsFunc(secretParts[:], func(p string) bool { return strings.Contains(name, p) })
}

func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
}

// attemptKey is the variable that names the attempt to each of its processes. Its value
// begins with the id of the run, which is public: in names of branches, say.
const attemptKey = "BELAY_KEY"

// Secretive tells whether an environment variable of this name is likely to
// hold a secret.
func Secretive(name string) bool {
	if name == attemptKey {
		return false
	}
	if Surely(name) {
		return true
	}
	words := wordsOf(strings.ToUpper(name))
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if slices.Contains(placeEnds[:], last) || harmless(words) {
		return false
	}
	for _, w := range secretWords {
		if slices.Contains(words, w) {
			return true
		}
	}
	return len(words) > 1 && slices.Contains(secretEnds[:], last)
}

// harmless knows the names that only sound secret: counts of a model's tokens,
// the halves of key pairs that are made to be shown, and the variable that holds
// names of secrets.
func harmless(words []string) bool {
	has := func(w string) bool { return slices.Contains(words, w) }
	return has("TOKENIZERS") || has("TOKENIZER") || has("MAX") && has("TOKENS") || has("PUBLIC") && has("KEY") ||
		slices.Equal(words, []string{"BELAY", "SECRETS"})
}

// FromEnv is the values to hide of an environment in the form "NAME=value":
// those of the declared names, those of secretive names, and the passwords
// inside URLs, whatever the name. Each is there once, in the order of env.
func FromEnv(env []string, declared []string) []string {
	var out []string
	add := func(v string) {
		if v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, e := range env {
		name, value, ok := strings.Cut(e, "=")
		if !ok {
			continue
		}
		if slices.Contains(declared, name) || Secretive(name) {
			add(value)
		}
		if pass := password(value); pass != "" {
			add(pass)
			if plain, err := url.PathUnescape(pass); err == nil { // not escaped: there is no plain form
				add(plain)
			}
		}
	}
	return out
}

// password is the password in the user part of a URL, as it is written there.
func password(value string) string {
	_, rest, ok := strings.Cut(value, "://")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return ""
	}
	_, pass, _ := strings.Cut(rest[:at], ":")
	return pass
}
