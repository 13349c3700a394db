package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Files of the folder that KeepSettings writes.
const (
	keptConfig     = "config"
	keptAttributes = "attributes"
	keptIgnore     = "ignore"
)

// setting is a key of git with a value; a key without one is a flag that is set.
type setting struct {
	scope, key, value string
	plain             bool // it has no value
}

// KeepSettings writes down in a folder how git is set for a directory: for the user, for the
// machine, and what the repository says about contents and remotes. Agents can change all of
// that. Where git reads nothing there is nothing to keep.
func KeepSettings(ctx context.Context, dir, to string) error {
	p, err := find(ctx, "", dir)
	if err != nil {
		return nil //nolint:nilerr // no repository: nothing is judged with git
	}
	list, err := p.settingsNow(ctx)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	if err != nil {
		return fmt.Errorf("keep the settings of git: %w", err)
	}
	var text strings.Builder
	for _, s := range list {
		if s.scope == "local" && !ofContents(s.key) || s.key == "core.attributesfile" || s.key == "core.excludesfile" || strings.HasPrefix(s.key, "include") {
			continue
		}
		s.write(&text)
	}
	for key, name := range map[string]string{"attributesFile": keptAttributes, "excludesFile": keptIgnore} {
		at := filepath.Join(to, name)
		setting{key: "core." + key, value: at}.write(&text)
		if err := os.WriteFile(at, p.userFile(ctx, "core."+key, name), 0o600); err != nil {
			return fmt.Errorf("keep the settings of git: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(to, keptConfig), []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("keep the settings of git: %w", err)
	}
	return nil
}

// userFile is the text of a file that a setting names, or that is where git looks for it.
func (p place) userFile(ctx context.Context, key, name string) []byte {
	at, err := p.line(ctx, "config", "--type=path", "--get", key)
	if err != nil || at == "" {
		home := os.Getenv("XDG_CONFIG_HOME")
		if home == "" {
			home = filepath.Join(os.Getenv("HOME"), ".config")
		}
		at = filepath.Join(home, "git", name)
	}
	b, _ := os.ReadFile(joined(p.top, at)) // none: it says nothing
	return b
}

// ofContents tells whether a setting of a repository says what becomes of contents, who
// commits, or where remotes are: others are about the repository itself.
func ofContents(key string) bool {
	section, _, _ := strings.Cut(key, ".")
	if section == "core" {
		return slices.Contains([]string{"core.autocrlf", "core.eol", "core.sshcommand", "core.gitproxy", "core.askpass", "core.hookspath"}, key)
	}
	return slices.Contains([]string{"filter", "lfs", "user", "author", "committer", "remote", "url", "credential", "http", "ssh", "protocol", "push"}, section)
}

// settingsNow are all settings that are in effect, those that count less first.
func (p place) settingsNow(ctx context.Context) ([]setting, error) {
	out, err := p.run(ctx, "config", "--list", "--includes", "--show-scope", "-z")
	if err != nil {
		return nil, err
	}
	var list []setting
	fields := records(out)
	for i := 0; i+1 < len(fields); i += 2 {
		s := setting{scope: fields[i]}
		if s.scope == "worktree" {
			s.scope = "local"
		}
		key, value, has := strings.Cut(fields[i+1], "\n")
		if s.key, s.value, s.plain = key, value, !has; s.scope != "command" {
			list = append(list, s)
		}
	}
	return list, nil
}

// write writes the setting as git reads it.
func (s setting) write(to *strings.Builder) {
	section, rest, _ := strings.Cut(s.key, ".")
	head := section
	if i := strings.LastIndexByte(rest, '.'); i >= 0 {
		head += ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(rest[:i]) + `"`
		rest = rest[i+1:]
	}
	to.WriteString("[" + head + "]\n\t" + rest)
	if !s.plain {
		to.WriteString(` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`).Replace(s.value) + `"`)
	}
	to.WriteString("\n")
}

type settingsKey struct{}

// keptSettings are what calls of git are set by.
type keptSettings struct {
	folder string
	over   []setting // over what the repository says
}

// WithSettings has git set as a folder of KeepSettings says, and not as it is now: a filter
// of the repository that is another one since does nothing. Without such a folder it
// changes nothing.
func WithSettings(ctx context.Context, dir, folder string) (context.Context, error) {
	if _, err := os.Stat(filepath.Join(folder, keptConfig)); errors.Is(err, os.ErrNotExist) {
		return ctx, nil
	} else if err != nil {
		return ctx, fmt.Errorf("read the settings of git: %w", err)
	}
	k := keptSettings{folder: folder}
	as := context.WithValue(ctx, settingsKey{}, k)
	p, err := find(as, "", dir)
	if err != nil {
		return as, nil //nolint:nilerr // no repository has no filters
	}
	list, err := p.settingsNow(as)
	if err != nil {
		return as, fmt.Errorf("read the settings of git: %w", err)
	}
	was := map[string]string{}
	for _, s := range list {
		if s.scope != "local" {
			was[s.key] = s.value
		}
	}
	for _, s := range list {
		if s.scope == "local" && strings.HasPrefix(s.key, "filter.") && was[s.key] != s.value {
			k.over = append(k.over, setting{key: s.key, value: was[s.key]})
		}
	}
	return context.WithValue(ctx, settingsKey{}, k), nil
}

// SettingsEnv are the variables that have git read the settings of a folder alone.
func SettingsEnv(folder string) []string {
	return []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(folder, keptConfig), "GIT_CONFIG_NOSYSTEM=1"}
}

// asSet is the environment of a call of git with the settings that it is to have.
func asSet(ctx context.Context, env []string) []string {
	k, ok := ctx.Value(settingsKey{}).(keptSettings)
	if !ok {
		return env
	}
	env = append(env, SettingsEnv(k.folder)...)
	if len(k.over) == 0 {
		return env
	}
	n := 0
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(v) // it is ours
		}
	}
	for _, s := range k.over {
		at := strconv.Itoa(n)
		value := s.value
		if value == "" && strings.HasSuffix(s.key, ".required") {
			value = "false"
		}
		env = append(env, "GIT_CONFIG_KEY_"+at+"="+s.key, "GIT_CONFIG_VALUE_"+at+"="+value)
		n++
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// Apart makes a git folder that has the objects, branches and hooks of the repository of a
// directory, and no setting of it: what is pushed from there goes where kept settings say.
func Apart(ctx context.Context, dir, to string) error {
	p, err := find(ctx, "", dir)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	if err != nil {
		return fmt.Errorf("make a git folder: %w", err)
	}
	text := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if len(p.zero) > 40 || !p.plainRefs() {
		text = strings.Replace(text, "= 0", "= 1", 1) + "[extensions]\n"
	}
	if len(p.zero) > 40 {
		text += "\tobjectformat = sha256\n"
	}
	if !p.plainRefs() {
		text += "\trefstorage = reftable\n"
	}
	err = errors.Join(os.WriteFile(filepath.Join(to, "config"), []byte(text), 0o600), os.WriteFile(filepath.Join(to, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600))
	for _, name := range []string{"objects", "refs", "packed-refs", "reftable", "hooks", "lfs", "shallow"} {
		if err == nil && exists(filepath.Join(p.all, name)) {
			err = os.Symlink(filepath.Join(p.all, name), filepath.Join(to, name))
		}
	}
	if err != nil {
		return fmt.Errorf("make a git folder: %w", err)
	}
	return nil
}

// SameRepository tells whether two directories belong to one repository.
func SameRepository(ctx context.Context, a, b string) bool {
	p, err := find(ctx, "", a)
	if err != nil {
		return false
	}
	q, err := find(ctx, "", b)
	return err == nil && p.all == q.all
}

// MainTop is the top of the user's own checkout: of the directory that is given, where it
// belongs to the repository, else of the one that the repository is in.
func MainTop(ctx context.Context, dir, given string) (string, error) {
	if given != "" && SameRepository(ctx, given, dir) {
		dir = given
	} else if p, err := find(ctx, "", dir); err == nil {
		list, err := p.worktrees(ctx)
		if err != nil || len(list) == 0 {
			return p.top, err
		}
		return list[0].path, nil
	}
	p, err := find(ctx, "", dir)
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	return p.top, nil
}
