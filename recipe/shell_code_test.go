package recipe

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ran are places where a part of a second shell's script is a value: each is
// refused, and does harm where it is not.
var ran = []struct{ script, value string }{
	{`bash -c "echo {{v}}"`, `$(touch canary)`}, {`sh -c 'echo {{v}}'`, `;touch canary`}, {`bash -ec "echo {{v}}"`, `;touch canary`},
	{`bash -euo pipefail -c "echo {{v}}"`, `;touch canary`}, {`timeout 5 bash -c "echo {{v}}"`, `;touch canary`}, {`env X=1 sh -c "echo {{v}}"`, `;touch canary`},
	{`echo x | xargs sh -c "echo {{v}}"`, `;touch canary`}, {`find . -maxdepth 0 -exec sh -c "echo {{v}}" \;`, `;touch canary`},
	{`nohup bash -c "echo {{v}}"`, `;touch canary`}, {`nice -n 1 bash -c "echo {{v}}"`, `;touch canary`}, {`setsid -w bash -c "echo {{v}}"`, `;touch canary`},
	{`command bash -c "echo {{v}}"`, `;touch canary`}, {`exec bash -c "echo {{v}}"`, `;touch canary`}, {`/bin/sh -c "echo {{v}}"`, `;touch canary`},
	{`bash <<< "echo {{v}}"`, `;touch canary`}, {"bash <<EOF\necho {{v}}\nEOF", `;touch canary`}, {"bash -s <<EOF\necho {{v}}\nEOF", `;touch canary`},
	{`echo "echo {{v}}" | bash`, `;touch canary`}, {`printf '%s\n' x {{v}} | sh`, `touch canary`}, {"cat <<EOF | bash\necho {{v}}\nEOF", `;touch canary`},
	{`echo "echo {{v}}" | tr x y | bash`, `;touch canary`}, {`{ echo a=1; echo "{{v}}"; } | bash`, `touch canary`}, {`. <(echo "x={{v}}")`, `1;touch canary`}, {`source <(printf 'x=%s\n' {{v}})`, `1;touch canary`},
	{`source /dev/stdin <<< "x={{v}}"`, `1;touch canary`}, {`eval "echo {{v}}"`, `$(touch canary)`}, {`eval echo {{v}}`, `$(touch canary)`}, {`eval {{v}} b`, `touch canary;`},
	{`eval "$(echo "x={{v}}")"`, `1;touch canary`}, {`trap "echo {{v}}" EXIT`, `;touch canary`}, {`compgen -C "echo {{v}}"`, `;touch canary`}, {`compgen -W "a {{v}}"`, `$(touch canary)`},
	{`mapfile -c 1 -C "echo {{v}}" x <<< a`, `;touch canary;`}, {`BASH_ENV={{v}} bash -c true`, `$(touch canary)`}, {`export BASH_ENV={{v}}; bash -c true`, `$(touch canary)`},
	{`env "BASH_ENV={{v}}" bash -c true`, `$(touch canary)`}, {`PS4={{v}}; set -x; true`, `$(touch canary)`}, {`declare "PS4={{v}}"; set -x; true`, `$(touch canary)`},
	{`\eval "echo {{v}}"`, `;touch canary`}, {`'eval' "echo {{v}}"`, `;touch canary`}, {`"eval" "echo {{v}}"`, `;touch canary`}, {`e""val "echo {{v}}"`, `;touch canary`},
	{`command eval "echo {{v}}"`, `;touch canary`}, {`builtin eval "echo {{v}}"`, `;touch canary`}, {`\command \eval "echo {{v}}"`, `;touch canary`}, {`command -p eval "echo {{v}}"`, `;touch canary`},
	{"shopt -s expand_aliases\nalias foo=\"echo {{v}}\"\nfoo", `;touch canary`}, {`'bash' -c "echo {{v}}"`, `;touch canary`}, {`flock x -c "echo {{v}}"`, `;touch canary`},
	{`flock x sh -c "echo {{v}}"`, `;touch canary`}, {`bash -c -- "echo {{v}}"`, ``},
}

func TestSecondShellIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range ran {
		script, problems := ParseScript(c.script, Pos{1, 1})
		if script != nil || len(problems) != 1 || problems[0].Warning || problems[0].Hint == "" {
			t.Errorf("%s: %v", c.script, problems)
			continue
		}
		if c.value != "" && !harms(t, c.script, c.value) {
			t.Errorf("%s does no harm with %s: why is it refused?", c.script, c.value)
		}
	}
	for _, src := range []string{ // what a test cannot run
		`sudo -u x bash -c "echo {{v}}"`, `ssh host "cd {{v}} && ls"`, `ssh -p 22 -o A=b u@host ls {{v}}`, "ssh host <<EOF\nls {{v}}\nEOF", "ssh host bash -s <<'EOF'\nls {{v}}\nEOF",
		`su x -c "ls {{v}}"`, `docker exec c sh -c "ls {{v}}"`, `timeout 5 ssh host "ls {{v}}"`, `echo "ls {{v}}" | ssh host`, `echo "ls {{v}}" | sudo bash`,
		`watch "ls {{v}}"`, `watch -n 1 ls {{v}}`, `sudo watch "ls {{v}}"`, `parallel "echo {{v}}" ::: a`, `parallel -j 2 echo {{v}} {} ::: a`, `busybox sh -c "ls {{v}}"`, `script -qc "ls {{v}}" /dev/null`,
		`su - x -c "ls {{v}}"`, `runuser -u x -- sh -c "ls {{v}}"`, `nsenter -t 1 -m sh -c "ls {{v}}"`, `unshare -r sh -c "ls {{v}}"`, `chroot /x /bin/sh -c "ls {{v}}"`, `docker run --rm img sh -c "ls {{v}}"`,
		`kubectl exec p -- sh -c "ls {{v}}"`, `tmux send-keys -t x "ls {{v}}" Enter`, `tmux new-window "ls {{v}}"`, `docker compose exec c bash -lc "ls {{v}}"`, `screen -dm bash -c "ls {{v}}"`,
	} {
		if script, problems := ParseScript(src, Pos{1, 1}); script != nil || len(problems) != 1 || problems[0].Hint == "" {
			t.Errorf("%s: %v", src, problems)
		}
	}
}

// harms tells whether a value runs in a script whose placeholders are only
// replaced by quoted references.
func harms(t *testing.T, src, value string) bool {
	t.Helper()
	word := `"$v"`
	if i := strings.Index(src, "{{v}}"); strings.Count(src[:i], `"`)%2 == 1 || strings.Contains(src, "EOF") {
		word = "$v"
	} else if strings.Count(src[:i], "'")%2 == 1 {
		word = `'"$v"'`
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(src, "{{v}}", word))
	cmd.Dir, cmd.Env = t.TempDir(), []string{"PATH=" + os.Getenv("PATH"), "v=" + value}
	_ = cmd.Run() // some of them fail after the harm is done
	_, err := os.Stat(filepath.Join(cmd.Dir, "canary"))
	return err == nil
}

// A value that is the whole script is meant to be one, and a program in another
// language may or may not be hurt: both are warnings.
func TestProgramsAreWarnedOf(t *testing.T) {
	t.Parallel()
	const script = "runs the value as a script"
	part := func(name string) string { return "a part of a program for " + name + "," }
	for _, c := range []struct{ src, want, hint string }{
		{`timeout 5 bash -c {{v}}`, "bash -c " + script, `bash -c '… "$1" …' _ {{v}}`}, {`bash -c "{{v}}"`, script, ""}, {`eval '{{v}}'`, "eval " + script, ""}, {`bash <<< {{v}}`, "bash " + script, "bash -s -- {{v}}"},
		{"bash <<EOF\n{{v}}\nEOF", script, ""}, {`echo {{v}} | bash`, script, ""}, {`printf '%s' "{{v}}" | sh`, "sh " + script, ""}, {`. <(echo {{v}})`, ". " + script, ""}, {`trap {{v}} EXIT`, "trap " + script, `v={{v}}; trap`},
		{`ssh host {{v}}`, "ssh " + script, "printf %q {{v}}"}, {`compgen -C {{v}}`, script, ""}, {`ENV={{v}} make`, "in $ENV", ""}, {`PROMPT_COMMAND={{v}}`, "in $PROMPT_COMMAND", ""}, {`sudo env ENV={{v}} sh x`, "in $ENV", ""},
		{`awk "/{{v}}/" f`, part("awk"), `ENVIRON["V"]`}, {`awk -F: -v a=1 '{print "{{v}}"}' f`, part("awk"), "V={{v}} awk"}, {`python3 -c "print('{{v}}')"`, part("python3"), "sys.argv[1] …' {{v}}"},
		{"python3 - <<'EOF'\nprint('{{v}}')\nEOF", part("python3"), ""}, {"python3 <<EOF\nprint('{{v}}')\nEOF", part("python3"), ""}, {`perl -pe "s/a/{{v}}/" f`, part("perl"), "$ENV{V}"}, {`node -e "f('{{v}}')"`, part("node"), "process.env.V"},
		{`node --eval="f('{{v}}')"`, part("node"), ""}, {`ruby -e 'p "{{v}}"'`, part("ruby"), ""}, {`sed "s/a/{{v}}/" f`, part("sed"), "awk"}, {`sed -i -e 's/{{v}}/b/' f`, part("sed"), ""}, {`sed -n -e"/{{v}}/p" f`, part("sed"), ""},
		{`jq ".{{v}}" f`, part("jq"), "jq --arg v {{v}}"}, {`jq -r --arg a 1 ".x == \"{{v}}\"" f`, part("jq"), ""}, {`psql -d db -tAc "select '{{v}}'"`, part("psql"), ":'v'"}, {"psql db <<EOF\nselect '{{v}}'\nEOF", part("psql"), ""},
		{`sqlite3 f.db "select '{{v}}'"`, part("sqlite3"), ""}, {`mysql -u x -e "select '{{v}}'"`, part("mysql"), ""}, {`gh pr list --jq ".[] | .{{v}}"`, part("gh"), ""}, {`find . -exec sed -i "s/a/{{v}}/" {} +`, part("sed"), ""},
		{`sudo python3 -c "print('{{v}}')"`, part("python3"), ""}, {`yq ".{{v}}" f`, part("yq"), "strenv(V)"}, {`php -r "echo '{{v}}';"`, part("php"), ""}, {`echo "select '{{v}}'" | psql db`, part("psql"), ""},
	} {
		got, problems := ParseScript(c.src, Pos{1, 1})
		if got == nil || len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Msg, c.want) || problems[0].Hint == "" || !strings.Contains(problems[0].Hint, c.hint) {
			t.Errorf("%s: %v", c.src, problems)
			continue
		}
		if strings.Contains(problems[0].Hint, "NAME") || strings.Contains(problems[0].Hint, "VALUE") {
			t.Errorf("%s: %s", c.src, problems[0].Hint)
		}
	}
}

// What only looks like one of them gets no warning.
func TestOrdinaryScriptsAreQuiet(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		`bash -c 'echo "$1"' _ {{v}}`, `bash run.sh -c {{v}}`, `bash -s -- {{v}} <<'EOF'` + "\necho \"$1\"\nEOF", `sh {{v}}`, `source {{v}}/bin/activate`, `. ./lib.sh {{v}}`, `timeout 5 make {{v}}`,
		`sudo apt-get install bash {{v}}`, `env A={{v}} make`, `echo "ENV={{v}}" >> f`, `echo "bash -c {{v}}"`, `grep -e {{v}} f | sed 's/a/b/'`, `curl {{v}} | bash`, `xargs grep {{v}}`, `find . -name {{v}} -exec rm {} +`,
		`ssh {{v}} uptime`, `ssh -i {{v}} host uptime`, `ssh host "ls $(printf %q {{v}})"`, `scp {{v}} host:`, `awk -v a={{v}} '{print a}' f`, `awk '{print}' {{v}}`, `A={{v}} awk '{print ENVIRON["A"]}'`, `awk -f x.awk {{v}}`,
		`python3 -c 'import sys; print(sys.argv[1])' {{v}}`, `python3 x.py -c {{v}}`, `python3 -m json.tool {{v}}`, `python3 - {{v}} <<'EOF'` + "\nprint(1)\nEOF", `sed -n '1p' {{v}}`, `sed -e 's/a/b/' {{v}}`, `jq --arg v {{v}} '.[$v]' f`,
		`jq . {{v}}`, `echo {{v}} | jq -r .a`, `echo {{v}} | python3 x.py`, `echo {{v}} | sed 's/a/b/'`, `psql -d {{v}} -c 'select 1'`, `psql -v v={{v}} -f q.sql`, `node app.js -e {{v}}`, `perl -ne 'print' {{v}}`, `gh pr create -t {{v}} -b "{{v}}"`,
		`trap 'rm -f "$f"' EXIT; f={{v}}`, `git commit -m "bash -c {{v}}"`, `docker run -e ENV={{v}} node`, `docker build -t {{v}} .`, `eval "$(tool env {{v}})"`, `mapfile -t x <<< {{v}}`, `PS3={{v}}`, `read -rp {{v}} x`, `set -- {{v}}; eval 'echo "$1"'`,
		`bash -c 'cat' <<< {{v}}`, `bash x.sh <<< {{v}}`, `command -v {{v}}`, `exec {{v}}`, `flock {{v}} make`, `x={{v}}; echo "$x"`, `x={{v}}; [ "$x" -gt 3 ]`, `x={{v}}; echo "${#x}" $(( ${#x} + 1 ))`, `complete -W 'a b' {{v}}`, `echo {{v}} | jq -r .command | bash`,
	} {
		if script, problems := ParseScript(src, Pos{1, 1}); script == nil || len(problems) > 0 {
			t.Errorf("%s: %v", src, problems)
		}
	}
}

// However a script is built, it is looked through in little time.
func TestCodeIsFoundInTime(t *testing.T) {
	t.Parallel()
	fill := func(first, part string) string { return first + strings.Repeat(part, (MaxScript-len(first))/len(part)) }
	half := MaxScript / 2
	for _, src := range []string{
		fill("echo {{v}}", "|bash"), fill("echo {{v}}", "|tr a b"), fill("declare -A m\n", "m[{{v}}]=1\n"), fill(strings.Repeat("declare -A m\n", half/13), "m[{{v}}]=1\n"),
		fill("declare -A m\nf() {\nlocal -A m\n"+strings.Repeat("g() { :; }\n", half/11), "m[{{v}}]=1\n")[:MaxScript-20] + "\n}", fill("x={{v}}; ((x))\n", "x=$x\n"),
		fill("", "echo $((A))\n"), fill("echo {{v}}", " && echo {{v}}"), strings.Repeat(`bash -c "$(`, 150) + "echo {{v}}" + strings.Repeat(`)"`, 150),
	} {
		start := time.Now()
		_, _ = ParseScript(src, Pos{1, 1}) // the time is what counts here
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%.30s… took %v", src, took)
		} else {
			t.Logf("%.30q… %d bytes took %v", src, len(src), took)
		}
	}
}
