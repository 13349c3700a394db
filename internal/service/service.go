// Package service writes the file by which a system starts belay watch for a user:
// a unit of systemd, or a property list of launchd. It starts and stops nothing, and
// never touches a file that it did not write.
package service

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Kind is a system that starts services.
type Kind string

// The systems.
const (
	Systemd Kind = "systemd"
	Launchd Kind = "launchd"
)

// Of is the system that starts services on an operating system; "" where none is
// known.
func Of(goos string) Kind {
	switch goos {
	case "linux":
		return Systemd
	case "darwin":
		return Launchd
	}
	return ""
}

// Service is what is to be started.
type Service struct {
	Kind   Kind
	Home   string // of the user
	Config string // where settings of the user lie; "" = in Home
	Exe    string // the program, absolute
	State  string // the state directory, absolute
	Usual  bool   // it is the one that is used when nobody names another
	Path   string // where the steps of runs find programs
}

// Name is what the system calls it: one for each state directory.
func (s Service) Name() string {
	tail := ""
	if !s.Usual {
		sum := sha256.Sum256([]byte(s.State))
		tail = "-" + hex.EncodeToString(sum[:4])
	}
	if s.Kind == Launchd {
		return "run.belay.watch" + tail
	}
	return "belay-watch" + tail + ".service"
}

// File is where the system looks for it.
func (s Service) File() string {
	if s.Kind == Launchd {
		return filepath.Join(s.Home, "Library", "LaunchAgents", s.Name()+".plist")
	}
	return filepath.Join(s.config(), "systemd", "user", s.Name())
}

// Variables is the file with the variables that runs need and this shell has:
// lines of NAME=VALUE. launchd knows no such file.
func (s Service) Variables() string {
	if s.Kind == Launchd {
		return ""
	}
	return filepath.Join(s.config(), "belay", "watch.env")
}

// Enabled is the link by which systemd starts it at a login, "" for launchd.
func (s Service) Enabled() string {
	if s.Kind == Launchd {
		return ""
	}
	return filepath.Join(s.config(), "systemd", "user", "default.target.wants", s.Name())
}

func (s Service) config() string {
	if s.Config != "" {
		return s.Config
	}
	return filepath.Join(s.Home, ".config")
}

// Start are the commands that start it, now and at each login.
func (s Service) Start() []string {
	if s.Kind == Launchd {
		return []string{"launchctl bootstrap gui/$(id -u) " + quote(s.File())}
	}
	return []string{
		"systemctl --user daemon-reload",
		"systemctl --user enable --now " + s.Name(),
		"loginctl enable-linger    # so that it goes on after a logout",
	}
}

// Stop are the commands that end it, and keep it from being started.
func (s Service) Stop() []string {
	if s.Kind == Launchd {
		return []string{"launchctl bootout gui/$(id -u)/" + s.Name()}
	}
	return []string{"systemctl --user disable --now " + s.Name()}
}

// Text is the file.
func (s Service) Text() string {
	if s.Kind == Launchd {
		return seal(xmlHead, "<!-- ", " -->", s.plist())
	}
	return seal("", "# ", "", s.unit())
}

func (s Service) unit() string {
	return `[Unit]
Description=belay watch: looks after runs

[Service]
ExecStart=` + unitWord(s.Exe) + ` --state ` + unitWord(s.State) + ` watch --window 0
Environment=` + unitWord("PATH="+s.Path) + `
EnvironmentFile=-` + unitPath(s.Variables()) + `
# The drivers of runs outlive the watch.
KillMode=process
Restart=always
RestartSec=30

[Install]
WantedBy=default.target
`
}

// unitWord is a word of a unit: quoted, with nothing in it that systemd expands.
func unitWord(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`, "\n", `\n`).Replace(text) + `"`
}

// unitPath is a path that stands for itself: systemd takes it to the end of the line.
func unitPath(path string) string { return strings.ReplaceAll(path, "%", "%%") }

func (s Service) plist() string {
	var args strings.Builder
	for _, arg := range []string{s.Exe, "--state", s.State, "watch", "--window", "0"} {
		args.WriteString("\n    <string>" + html.EscapeString(arg) + "</string>")
	}
	return `<plist version="1.0">
<dict>
  <key>Label</key><string>` + html.EscapeString(s.Name()) + `</string>
  <key>ProgramArguments</key>
  <array>` + args.String() + `
  </array>
  <key>EnvironmentVariables</key>
  <dict><key>PATH</key><string>` + html.EscapeString(s.Path) + `</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ThrottleInterval</key><integer>30</integer>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`
}

// mark begins the line that tells our files from others.
const mark = "written by belay to start its watch, sha256 "

// xmlHead begins a property list.
const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
`

// seal puts a line between the parts of a text that tells whether somebody changed
// one of them.
func seal(head, open, end, text string) string {
	return head + open + mark + digest(head+text) + end + "\n" + text
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ours tells whether a file is as it was written here.
func ours(text string) bool {
	at := strings.Index(text, mark)
	if at < 0 {
		return false
	}
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	line, rest, _ := strings.Cut(text[begin:], "\n")
	return strings.Contains(line, mark+digest(text[:begin]+rest))
}

// Foreign is a file that somebody else wrote or changed.
type Foreign struct{ Path string }

func (e *Foreign) Error() string { return e.Path + " was not written by belay, or was changed since" }

// There tells whether the file is there as it should be. One that somebody else wrote is
// an error.
func (s Service) There() (bool, error) {
	path := s.File()
	have, err := os.ReadFile(path)
	switch {
	case err == nil && string(have) == s.Text():
		return true, nil
	case err == nil && !ours(string(have)):
		return false, &Foreign{path}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	return false, nil
}

// Install writes the file, and tells whether it was there already as it should be.
func (s Service) Install() (there bool, err error) {
	text, path := s.Text(), s.File()
	if there, err := s.There(); there || err != nil {
		return there, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	return false, write(path, text)
}

// write replaces a file in one step.
func write(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".belay-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// IsEnabled is a service that would be started at the next login.
type IsEnabled struct{ Name string }

func (e *IsEnabled) Error() string { return e.Name + " is enabled" }

// Uninstall removes the file, and tells whether there was one.
func (s Service) Uninstall() (was bool, err error) {
	have, err := os.ReadFile(s.File())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !ours(string(have)):
		return true, &Foreign{s.File()}
	}
	if link := s.Enabled(); link != "" {
		if _, err := os.Lstat(link); err == nil {
			return true, &IsEnabled{s.Name()}
		}
	}
	return true, os.Remove(s.File())
}

// quote is a word as a shell takes it.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Said is what was done, for a person.
func (s Service) Said(there bool) string {
	if there {
		return fmt.Sprintf("%s is there already", s.File())
	}
	return "wrote " + s.File()
}
