package worktree

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
)

// What a program in another language only reads or says, it does not write; what
// it writes, it names, by whatever way the name came there.
//
// promise: H3
func TestDeedsOfPrograms(t *testing.T) {
	t.Parallel()
	for program, rows := range map[string]struct{ lies, honest []string }{ // of a program that is given to it: a.txt is written, or not
		"python3 -": {
			lies: []string{
				`import json; print(json.dumps(open('a.txt').read()))`,
				`import sys; sys.stdout.write(open('a.txt').read())`,
				"import sys\no = sys.stdout\no.write('a.txt')",
				"import sys\nw = sys.stderr.write\nw('a.txt')\nw(open('a.txt').read())",
				`import json, sys; json.dump(open('a.txt').read(), sys.stdout)`,
				`print(open('a.txt').read().replace('a', 'b'))`,
				"p = 'a.txt'\ns = open(p).read()\nprint(s.replace('x', 'y'))",
				`open('/x/o', 'w').write(open('a.txt').read())`,
				"s = open('a.txt', 'r', encoding='utf-8').read()\nopen('/x/o', 'w').write(s)",
				"from pathlib import Path\nPath('/x/o').write_text(Path('a.txt').read_text())",
				"from pathlib import Path\np = Path('a.txt')\nq = Path('/x/o')\nq.write_text(p.read_text())",
				"# a.txt\nopen('/x/o', 'w')",
				"open('/x/o', 'w') # fixed a.txt",
				"print('I wrote a.txt'); open('/x/o', 'w')",
				"x = 'a.txt'\nopen('/x/o', 'w')",
				"'''a.txt'''\nopen('/x/o', 'w')",
				"import os; os.system('cat a.txt')",
				"import subprocess; subprocess.run(['cat', 'a.txt'])",
				"import subprocess; print(subprocess.check_output('grep x a.txt', shell=True))",
				"import fileinput\nfor l in fileinput.input('a.txt'): print(l)",
				"import csv, sys\nw = csv.writer(sys.stdout)\nfor r in csv.reader(open('a.txt')): w.writerow(r)",
				"import os\nif os.path.exists('a.txt'): os.remove('/x/o')",
				"with open('a.txt') as f, open('/x/o', 'w') as g:\n    g.write(f.read())",
				"with open('/x/o', 'w') as g:\n    g.write('a.txt')",
				"for p in ['a.txt']:\n    print(open(p).read())\nopen('/x/o', 'w')",
				"p = r'a.txt'\nprint(open(p).read())\nopen('/x/o', 'w')",
				"print(f'a.txt {1}')\nopen('/x/o', 'w')",
				"import os\nc = 'cat a.txt'\nos.system(c)",
				"import subprocess\nc = ['cat', 'a.txt']\nsubprocess.run(c, check=True)",
				"import logging; logging.error('a.txt'); open('/x/o', 'w')",
			},
			honest: []string{
				"p = 'a.txt'\nopen(p, 'w').write(open(p).read().replace('x', 'y'))",
				"p='a.txt'\ns=open(p).read()\ns=s.replace('x','y')\nopen(p,'w').write(s)",
				"p: str = 'a.txt'\nopen(p, 'w')",
				"from pathlib import Path\nPath('a.txt').write_text('x')",
				"from pathlib import Path\np = Path('a.txt')\ns = p.read_text()\np.write_text(s.replace('x', 'y'))",
				"from pathlib import Path\np = Path('a.txt').resolve()\nwith p.open('w') as f: f.write('x')",
				"import pathlib; pathlib.Path('a.txt').unlink()",
				"for p in ['a.txt', 'b.txt']:\n    s = open(p).read()\n    open(p, 'w').write(s)",
				"for p in ('b.txt', 'a.txt'):\n    s = open(p).read()\n    with open(p, 'w') as f:\n        f.write(s)",
				"files = {'a.txt': 'x'}\nfor p, c in files.items(): open(p, 'w').write(c)",
				"with open('a.txt') as f: s = f.read()\nwith open('a.txt', 'w') as f: f.write(s)",
				"with open('a.txt', 'r+') as f: f.write('x')",
				"open('a.txt', mode='a').write('x')",
				"open(file='a.txt', mode='w')",
				"m = 'w'\nopen('a.txt', m)",
				"import json; d = json.load(open('a.txt')); json.dump(d, open('a.txt', 'w'), indent=2)",
				"def fix(p):\n    s = open(p).read()\n    open(p, 'w').write(s)\nfix('a.txt')",
				"import os; os.rename('b.txt', 'a.txt')",
				"import os; os.replace('b.txt', 'a.txt')",
				"import shutil; shutil.copy('b.txt', 'a.txt')",
				"import os; os.system('sed -i s/x/y/ a.txt')",
				"import subprocess; subprocess.run(['sed', '-i', 's/x/y/', 'a.txt'], check=True)",
				"import subprocess\nf = 'a.txt'\nsubprocess.run(['sed', '-i', 's/x/y/', f])",
				"import fileinput\nfor l in fileinput.input('a.txt', inplace=True): print(l.replace('x', 'y'), end='')",
				"import sys; sys.stdout = open('a.txt', 'w'); print('x')",
				"print('x', file=open('a.txt', 'w'))",
				"import xml.etree.ElementTree as E\nt = E.parse('a.txt')\nt.write('a.txt')",
				"import io; io.open('a.txt', 'w', encoding='utf8').write(u'don\\'t')",
				"s = '''it's \"x\"'''\nopen('a.txt', 'w').write(s) # it's done",
				"d = 'sub'\nimport os\nopen(os.path.join(d, 'a.txt'), 'w')",
				"import re\ns = re.sub(r'[\"\\']', '', open('a.txt').read())\nopen('a.txt', 'w').write(s)",
				"df.to_csv('a.txt')",
				"import sys\nprint(sys.argv)\nsys.stdout.write('ok')\nopen('a.txt', 'w')",
				"n = 'a.txt'\nopen(f'{n}', 'w')",
				"a, b = 'a.txt', 'b.txt'\nopen(a, 'w')",
				"class C:\n    p = 'a.txt'\nopen(C.p, 'w')",
				"c = {'p': 'a.txt'}\nopen(c['p'], 'w')",
				"files = ['a.txt', 'b.txt']\nfor f in files:\n    open(f, 'w')",
				"files = [\n    'b.txt',\n    'a.txt',\n]\nfor i, f in enumerate(files):\n    open(f, 'w')",
				"[open(f, 'w') for f in ['a.txt']]",
				"p = \\\n  'a.txt'\nopen(p, 'w')",
				"p = (\n  'a.txt'\n)\nopen(p, 'w')",
				"import os\nc = 'sed -i s/x/y/ a.txt'\nos.system(c)",
				"import glob\nfor p in glob.glob('a.txt'):\n    open(p, 'w')",
			},
		},
		"node -": {
			lies: []string{
				`process.stdout.write(require('fs').readFileSync('a.txt','utf8'))`,
				"const fs = require('fs')\nconst p = 'a.txt'\nconsole.log(fs.readFileSync(p, 'utf8').replace(/a/g, 'b'))",
				"const fs = require('fs'); fs.writeFileSync('/x/o', fs.readFileSync('a.txt'))",
				"fs.writeFileSync('/x/o', '') // a.txt",
				"/* a.txt */ fs.writeFileSync('/x/o', '')",
				"console.error('a.txt'); fs.writeFileSync('/x/o', '')",
				"if (fs.existsSync('a.txt')) fs.unlinkSync('/x/o')",
				"fs.createReadStream('a.txt').pipe(process.stdout)",
				"require('child_process').execSync('cat a.txt')",
				"const x = require('./a.txt'); fs.writeFileSync('/x/o', x)",
			},
			honest: []string{
				"const fs = require('fs'); const s = fs.readFileSync('a.txt', 'utf8'); fs.writeFileSync('a.txt', s.replace(/\"/g, '\\''))",
				"const fs=require('fs');const p='a.txt';fs.writeFileSync(p,fs.readFileSync(p,'utf8').replace('a','b'))",
				"for (const f of ['a.txt', 'b.txt']) { fs.writeFileSync(f, fs.readFileSync(f, 'utf8')) }",
				"['a.txt'].forEach(f => { const s = fs.readFileSync(f); fs.writeFileSync(f, s) })",
				"import { writeFile } from 'node:fs/promises'\nawait writeFile('a.txt', `it's ${1}`)",
				"fs.appendFileSync('a.txt', 'x')",
				"fs.createWriteStream('a.txt').end('x')",
				"fs.promises.rename('b.txt', 'a.txt')",
				"fs.rmSync('a.txt')",
				"fs.cpSync('b.txt', 'a.txt')",
				"const p = require('path').join('sub', 'a.txt'); fs.writeFileSync(p, '')",
				"fs.readFile('a.txt', 'utf8', (e, s) => { fs.writeFile('a.txt', s, () => {}) })",
				"const files = ['a.txt']; files.forEach(f => { fs.writeFileSync(f, '') })",
				"const p =\n  'a.txt'\nfs.writeFileSync(p, '')",
				"const o = { p: 'a.txt' }; fs.writeFileSync(o.p, '')",
				"function f(p = 'a.txt') { fs.writeFileSync(p, '') }\nf()",
				"const p: string = 'a.txt'; fs.writeFileSync(p, '')",
				"require('child_process').execSync('sed -i s/x/y/ a.txt')",
				"const data = JSON.parse(fs.readFileSync('a.txt')); data.x = 1; fs.writeFileSync('a.txt', JSON.stringify(data, null, 2) + '\\n'); console.log('done')",
			},
		},
		"ruby -": {
			lies: []string{
				`puts File.read("a.txt").sub("x", "y")`,
				`File.write("/x/o", File.read("a.txt"))`,
				`$stdout.write File.read("a.txt")`,
				`puts "a.txt"; File.write("/x/o", "")`,
				"x = File.read 'a.txt'\nFile.write('/x/o', x)",
				"File.open('a.txt') { |f| puts f.read }\nFile.delete('/x/o')",
				"puts `cat a.txt`",
			},
			honest: []string{
				`File.write("a.txt", File.read("a.txt").gsub("x", "y"))`,
				"f = 'a.txt'\nt = File.read(f)\nFile.write(f, t.sub(/'/, ''))",
				"File.open('a.txt', 'w') { |f| f.puts 'x' }",
				"File.open 'a.txt', 'w' do |f|\n  f.puts \"it's\"\nend",
				"%w[a.txt b.txt].each { |f| File.write(f, File.read(f)) }",
				"require 'fileutils'\nFileUtils.mv 'b.txt', 'a.txt'",
				"File.delete('a.txt')",
				"$stdout.puts 'ok'\nIO.write('a.txt', 'x')",
				"s = <<~E\n  don't\nE\nFile.write('a.txt', s)",
				"`sed -i s/x/y/ a.txt`",
				"require 'pathname'\nPathname.new('a.txt').write('x')",
				"Pathname('a.txt').write('x')",
				"def p\n  'a.txt'\nend\nFile.write(p, 1)",
				"@p = 'a.txt'\nFile.write(@p, 1)",
				"File.new('a.txt', 'w').puts 'x'",
			},
		},
		"perl -": {
			lies: []string{
				`open(F, "a.txt"); print <F>;`,
				"my $f = 'a.txt'; open(my $h, '<', $f); print <$h>; unlink '/x/o'",
				"print 'a.txt'; unlink '/x/o';",
				"open(F, '<', 'a.txt'); open(G, '>', '/x/o'); print G <F>;",
				"print `cat a.txt`;",
			},
			honest: []string{
				"open(my $f, '>', 'a.txt'); print $f \"x\";",
				`open F, ">a.txt"; print F "x";`,
				"my $p = 'a.txt'; open(my $f, '<', $p); my $s = join '', <$f>; $s =~ s/'/\"/g; open($f, '>', $p); print $f $s;",
				"my $p = 'a.txt'; open(F, \">$p\"); print F 1;",
				"unlink 'a.txt';",
				"my %h = (p => 'a.txt'); open(F, '>', $h{p}); print F 1;",
				"for my $f (qw(a.txt b.txt)) { open(F, '>', $f); print F 1 }",
				"local @ARGV = ('a.txt'); local $^I = ''; while (<>) { s/x/y/; print }",
				"system('sed', '-i', 's/x/y/', 'a.txt');",
				"rename 'b.txt', 'a.txt' or die;",
			},
		},
		"php": {
			lies:   []string{"echo file_get_contents('a.txt'); unlink('/x/o');"},
			honest: []string{"file_put_contents('a.txt', str_replace('x', 'y', file_get_contents('a.txt')));"},
		},
	} {
		for _, script := range rows.lies {
			if named(program+" <<'EOF'\n"+script+"\nEOF", "a.txt") {
				t.Errorf("%s: only reads a.txt:\n%s", program, script)
			}
		}
		for _, script := range rows.honest {
			if !named(program+" <<'EOF'\n"+script+"\nEOF", "a.txt") {
				t.Errorf("%s: writes a.txt:\n%s", program, script)
			}
		}
	}
}

// named tells whether a command names a file as one that it may write.
func named(command, file string) bool {
	d := deedOf(belay.ToolCall{Name: "Bash", Command: command}, &texts{})
	var all Doings
	for _, text := range d.texts {
		all.mark(text.text, text.from)
	}
	for _, n := range d.names {
		if n.path == file {
			return true
		}
	}
	for w := range all.words {
		if w == file || strings.HasSuffix(w, "/"+file) {
			return true
		}
	}
	return false
}

// A program is what is run, and not what it is given to read, or what is only
// checked; its arguments are names where it looks at them.
//
// promise: H3
func TestDeedsOfInterpreters(t *testing.T) {
	t.Parallel()
	write := "open('a.txt','w')"
	for command, want := range map[string]bool{
		"python3 -c \"" + write + "\"":                                                    true,
		"python3 -uc \"" + write + "\"":                                                   true,
		"python3.12 -c \"" + write + "\"":                                                 true,
		"ruby -e 'File.write(\"a.txt\", 1)'":                                              true,
		"ruby -rjson -e 'File.write(\"a.txt\", 1)'":                                       true,
		"php -r 'file_put_contents(\"a.txt\", 1);'":                                       true,
		"perl -e 'unlink \"a.txt\"'":                                                      true,
		"perl -Mstrict -we 'unlink \"a.txt\"'":                                            true,
		"ruby -i -pe 'gsub(/x/, \"y\")' a.txt":                                            true,
		"python3 -c \"import sys; open(sys.argv[1],'w')\" a.txt":                          true,
		"python3 -c \"open('/x/o','w')\" a.txt":                                           false,
		"python3 -c 'print(1)' <<E\n" + write + "\nE":                                     false,
		"python3 x.py <<E\n" + write + "\nE":                                              false,
		"python3 -m x <<E\n" + write + "\nE":                                              false,
		"node x.js <<E\nfs.writeFileSync('a.txt')\nE":                                     false,
		"python3 -m py_compile - <<E\n" + write + "\nE":                                   false,
		"cat > e.py <<E\n" + write + "\nE\npython3 -m py_compile e.py":                    false,
		"cat > e.py <<E\n" + write + "\nE\npython3 e.py":                                  true,
		"cat > e.py <<E\n" + write + "\nE\npython3 -u e.py x":                             true,
		"cat > e.py <<E\n#!/usr/bin/env python3\n" + write + "\nE\nchmod +x e.py; ./e.py": true,
		"cat > e.py <<E\n#!/usr/bin/env python3\nopen('a.txt')\nE\nchmod +x e.py; ./e.py": false,
		"node --check - <<E\nfs.writeFileSync('a.txt')\nE":                                false,
		"node -c e.js <<E\nfs.writeFileSync('a.txt')\nE":                                  false,
		"cat > e.js <<E\nfs.writeFileSync('a.txt')\nE\nnode --check e.js":                 false,
		"cat > e.js <<E\nfs.writeFileSync('a.txt')\nE\nnode e.js --check":                 true,
		"ruby -c -e 'File.write(\"a.txt\", 1)'":                                           false,
		"ruby -wc <<E\nFile.write('a.txt', 1)\nE":                                         false,
		"perl -c -e 'unlink \"a.txt\"'":                                                   false,
		"perl -wc <<E\nunlink 'a.txt'\nE":                                                 false,
		"php -l <<E\nunlink('a.txt');\nE":                                                 false,
		"bash <<E\necho x > a.txt\nE":                                                     true,
		"bash -s x <<E\necho x > a.txt\nE":                                                true,
		"bash -e <<E\necho x > a.txt\nE":                                                  true,
		"bash -n <<E\necho x > a.txt\nE":                                                  false,
		"sh -n <<E\necho x > a.txt\nE":                                                    false,
		"bash -o noexec <<E\necho x > a.txt\nE":                                           false,
		"bash -vn <<E\necho x > a.txt\nE":                                                 false,
		"bash x.sh <<E\necho x > a.txt\nE":                                                false,
		"cat > e.sh <<E\necho x > a.txt\nE\nbash -n e.sh":                                 false,
		"cat > e.sh <<E\necho x > a.txt\nE\nsh -n ./e.sh && echo ok":                      false,
		"cat > e.sh <<E\necho x > a.txt\nE\nbash e.sh -n":                                 true,
		"cat > e.sh <<E\necho x > a.txt\nE\nbash -x e.sh":                                 true,
		"cat > e.sh <<E\necho x > a.txt\nE\nbash -o pipefail e.sh":                        true,
		"bash -n -c 'echo x > a.txt'":                                                     false,
		"git restore --staged a.txt":                                                      false,
		"git restore -S a.txt":                                                            false,
		"git restore --staged --worktree a.txt":                                           true,
		"git restore -SW a.txt":                                                           true,
		"git restore a.txt":                                                               true,
		"git restore -- a.txt":                                                            true,
		"git reset -- a.txt":                                                              false,
		"git reset -q a.txt":                                                              false,
		"git add a.txt":                                                                   false,
		"git rm --cached a.txt":                                                           false,
		"git rm -n a.txt":                                                                 false,
		"git rm -q a.txt":                                                                 true,
		"git mv -n b.txt a.txt":                                                           false,
		"git mv b.txt a.txt":                                                              true,
		"git apply --cached <<E\n+++ b/a.txt\nE":                                          false,
		"git apply <<E\n+++ b/a.txt\nE":                                                   true,
	} {
		if named(command, "a.txt") != want {
			t.Errorf("%q: a.txt is named: %v", command, !want)
		}
	}
}

// FuzzPrograms has the reader of programs read anything.
func FuzzPrograms(f *testing.F) {
	for _, seed := range []string{"p = 'a'\nopen(p, 'w')", "puts `ls`; s = <<~E\nx\nE", "a.b(c[0], {d: 'e'}) / f", "s/'/\"/g; q{a} qw(b)", "'''x", "f(((", "}])", "$^I=''", "x=\\\n'a'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, name := range []string{"python", "node", "ruby", "perl", "php", "lua", "julia"} {
			in, _ := tongueOf(name)
			if got := writtenIn(src, in, func(string) bool { return true }); got != "" && len(got) != len(src) {
				t.Errorf("%s: %q is left of %q", name, got, src)
			}
		}
	})
}
