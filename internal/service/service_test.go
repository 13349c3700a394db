package service

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func of(k Kind, home string) Service {
	return Service{Kind: k, Home: home, Exe: "/opt/my tools/belay", State: `/s/100% "x" $HOME`, Path: "/usr/bin:/a&b"}
}

func TestText(t *testing.T) {
	t.Parallel()
	unit := of(Systemd, "/home/u").Text()
	for _, want := range []string{
		`ExecStart="/opt/my tools/belay" --state "/s/100%% \"x\" $$HOME" watch --window 0`,
		`Environment="PATH=/usr/bin:/a&b"`, "EnvironmentFile=-/home/u/.config/belay/watch.env", "KillMode=process", "WantedBy=default.target",
	} {
		if !strings.Contains(unit, want+"\n") {
			t.Errorf("no %s in\n%s", want, unit)
		}
	}
	plist := of(Launchd, "/Users/u").Text()
	for d := xml.NewDecoder(strings.NewReader(plist)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, plist)
		}
	}
	for _, want := range []string{"<string>/opt/my tools/belay</string>", "/a&amp;b", "<key>AbandonProcessGroup</key><true/>"} {
		if !strings.Contains(plist, want) {
			t.Errorf("no %s in\n%s", want, plist)
		}
	}
	usual := of(Systemd, "/home/u")
	usual.Usual = true
	if a, b := of(Systemd, "/h").Name(), usual.Name(); a == b || b != "belay-watch.service" {
		t.Errorf("%s and %s", a, b)
	}
	if Of("linux") != Systemd || Of("darwin") != Launchd || Of("plan9") != "" {
		t.Error("the wrong system")
	}
}

// What somebody else wrote, or changed, stays.
func TestInstall(t *testing.T) {
	t.Parallel()
	for _, k := range []Kind{Systemd, Launchd} {
		s := of(k, t.TempDir())
		if was, err := s.Uninstall(); was || err != nil {
			t.Errorf("%s: removed nothing: %v %v", k, was, err)
		}
		for _, there := range []bool{false, true} {
			if got, err := s.Install(); got != there || err != nil {
				t.Fatalf("%s: %v %v, want %v", k, got, err, there)
			}
		}
		s.Path = "/other" // our own is written anew
		if there, err := s.Install(); there || err != nil {
			t.Errorf("%s: %v %v", k, there, err)
		}
		own, err := os.ReadFile(s.File())
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"mine\n", string(own) + "# and more\n", "# " + mark + "0\n[Unit]\n"} {
			if err := os.WriteFile(s.File(), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var foreign *Foreign
			if _, err := s.Install(); !errors.As(err, &foreign) {
				t.Errorf("%s: %v over %q", k, err, text)
			}
			if _, err := s.Uninstall(); !errors.As(err, &foreign) {
				t.Errorf("%s: %v removes %q", k, err, text)
			}
			if have, err := os.ReadFile(s.File()); err != nil || string(have) != text {
				t.Errorf("%s: %q is now %q, %v", k, text, have, err)
			}
		}
		if err := os.WriteFile(s.File(), own, 0o600); err != nil {
			t.Fatal(err)
		}
		if k == Systemd {
			if err := errors.Join(os.MkdirAll(filepath.Dir(s.Enabled()), 0o700), os.Symlink(s.File(), s.Enabled())); err != nil {
				t.Fatal(err)
			}
			var on *IsEnabled
			if _, err := s.Uninstall(); !errors.As(err, &on) {
				t.Errorf("an enabled one: %v", err)
			}
			if err := os.Remove(s.Enabled()); err != nil {
				t.Fatal(err)
			}
		}
		if was, err := s.Uninstall(); !was || err != nil {
			t.Errorf("%s: %v %v", k, was, err)
		}
	}
}
