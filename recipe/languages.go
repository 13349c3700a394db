package recipe

import (
	"path"
	"slices"
	"strings"
)

// language is a program that runs a text, and where its command line has it.
type language struct {
	names   []string // of the program, without a version
	runs    bool     // its first argument that is no option is a file that it runs
	letters string   // short options whose argument is the text
	long    []string // long ones
	valued  string   // short options with another argument
	plain   []string // long ones
	pairs   []string // options with two arguments
	files   []string // options that name a file with the text
	looks   []string // options with which a file is only read: its syntax is looked at
	first   int      // which argument that is no option is the text; 0 = none
	mixed   bool     // options may follow such arguments
	stdin   bool     // without the text it reads standard input
	shell   bool     // the text is a shell's
	cure    string   // how a value is handed over, VALUE stands for it; "" = it runs files only
	fed     string   // the same where it reads standard input; "" = no other way
}

const (
	byEnvironment = "hand it over as data: V=VALUE NAME "
	byParameters  = "check the value before, or ask the database with a program that takes parameters"
)

// languages are all programs that are known to run a text or a file.
var languages = []language{
	{names: []string{"bash", "sh", "dash", "zsh", "ksh", "ash"}, runs: true,
		letters: "c", valued: "oO", plain: []string{"--rcfile", "--init-file"}, looks: []string{"-n"}, stdin: true, shell: true,
		cure: `hand it over as an argument: NAME -c '… "$1" …' _ VALUE`, fed: `hand it over as an argument: NAME -s -- VALUE <<'END', and read "$1"`},
	{names: []string{"source", ".", "deno", "bun"}, runs: true},
	{names: []string{"python", "pypy"}, runs: true, letters: "c", valued: "WX", files: []string{"-m"}, stdin: true,
		cure: "hand it over as data: NAME -c '… sys.argv[1] …' VALUE", fed: "hand it over as data: NAME - VALUE <<'END', and read sys.argv[1]"},
	{names: []string{"perl"}, runs: true, letters: "eE", stdin: true, cure: byEnvironment + "-e '… $ENV{V} …'"},
	{names: []string{"ruby"}, runs: true, letters: "e", valued: "rI", looks: []string{"-c", "-wc"}, stdin: true, cure: byEnvironment + `-e '… ENV["V"] …'`},
	{names: []string{"node", "nodejs"}, runs: true, letters: "ep", long: []string{"--eval", "--print"}, valued: "r", looks: []string{"-c", "--check"}, stdin: true, cure: byEnvironment + "-e '… process.env.V …'"},
	{names: []string{"php"}, runs: true, letters: "r", looks: []string{"-l"}, stdin: true, cure: byEnvironment + `-r '… getenv("V") …'`},
	{names: []string{"lua"}, runs: true, letters: "e", valued: "l", cure: byEnvironment + `-e '… os.getenv("V") …'`},

	{names: []string{"su", "script", "flock", "runuser"}, letters: "c", long: []string{"--command"}, mixed: true, shell: true,
		cure: `quote it for the other shell: NAME -c "… $(printf %q VALUE) …"`},
	{names: []string{"awk", "gawk", "mawk", "nawk"}, valued: "Fv", files: []string{"-f"}, first: 1, cure: byEnvironment + `'… ENVIRON["V"] …'`},
	{names: []string{"sed", "gsed"}, letters: "e", long: []string{"--expression"}, valued: "l", files: []string{"-f", "--file"}, first: 1, mixed: true,
		cure: `sed takes no data: change text in bash, "${text//old/VALUE}", or with V=VALUE awk '… ENVIRON["V"] …'`},
	{names: []string{"jq", "gojq"}, valued: "L", plain: []string{"--indent"}, pairs: []string{"--arg", "--argjson", "--slurpfile", "--rawfile"},
		files: []string{"-f", "--from-file"}, first: 1, mixed: true, cure: "hand it over as data: NAME --arg v VALUE '… $v …'"},
	{names: []string{"yq"}, valued: "op", first: 1, mixed: true, cure: byEnvironment + "'… strenv(V) …'"},
	{names: []string{"gh"}, letters: "q", long: []string{"--jq"}, mixed: true, cure: "print it all and use jq: gh … | jq --arg v VALUE '… $v …'"},
	{names: []string{"psql"}, letters: "c", long: []string{"--command"}, valued: "dhUpvoFRTPL", files: []string{"-f", "--file"}, mixed: true, stdin: true,
		cure: `hand it over as data: psql -v v=VALUE <<< "… :'v' …"`},
	{names: []string{"mysql", "mariadb"}, letters: "e", long: []string{"--execute"}, valued: "huPDS", mixed: true, stdin: true, cure: byParameters},
	{names: []string{"sqlite"}, first: 2, mixed: true, cure: byParameters},
}

// named is the row of a program: python3.12 is python.
func named(name string) (lang language, known bool) {
	base := path.Base(name)
	bare := strings.TrimRight(base, "0123456789.")
	for i := range languages {
		if has := languages[i].names; slices.Contains(has, bare) || slices.Contains(has, base) {
			return languages[i], true
		}
	}
	return language{}, false
}

// languageOf is the language of a program that runs a text.
func languageOf(name string) (lang language, known bool) {
	lang, known = named(name)
	return lang, known && lang.cure != ""
}
