package main_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// receiverName is the name under which this test program takes notices:
//
//	receiver SETTINGS
//
// It writes the settings that lead to it into a file, behind those of the file
// SETTINGS.in, and notes each notice in the file seen, and each that it had not
// taken before in the file taken. The file faults has a word for each of the next
// notices: refuse, hang (until the sender leaves), late (taken, and answered a
// second after), gone; any other takes it at once.
//
// The signature is checked by hand here, not by the library that made it.
const receiverName = "receiver"

func linkReceiver(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(dir, receiverName))
}

type receiver struct {
	mu    sync.Mutex
	taken map[string]bool
}

// seenNotice is a line of the file seen.
type seenNotice struct {
	Path  string          `json:"path"`
	ID    string          `json:"id,omitempty"`
	Fault string          `json:"fault"`
	Good  bool            `json:"good"` // its signature
	Again bool            `json:"again"`
	Body  json.RawMessage `json:"body"`
}

func receive(args []string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r := &receiver{taken: map[string]bool{}}
	text, err := os.ReadFile(args[0] + ".in")
	if err == nil {
		err = os.WriteFile(args[0]+".new", []byte(strings.ReplaceAll(string(text), "RECEIVER", "http://"+l.Addr().String())), 0o600)
	}
	if err == nil {
		err = os.Rename(args[0]+".new", args[0])
	}
	if err == nil {
		err = http.Serve(l, r) //nolint:gosec // it lives as long as its script
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	s := seenNotice{Path: req.URL.Path, ID: req.Header.Get("webhook-id"), Body: body}
	if err != nil || !json.Valid(body) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.Good = signed(req.Header, body, os.Getenv("BELAY_WEBHOOK_SECRET"))
	r.mu.Lock()
	s.Fault = nextFault()
	s.Again = s.ID != "" && r.taken[s.ID]
	takes := s.Fault != "refuse" && s.Fault != "hang" && s.Fault != "gone" && (s.Good || s.ID == "")
	if takes && !s.Again {
		r.taken[s.ID] = true
		appendLine("taken", s)
	}
	appendLine("seen", s)
	r.mu.Unlock()
	switch s.Fault {
	case "refuse":
		w.WriteHeader(http.StatusServiceUnavailable)
	case "gone":
		w.WriteHeader(http.StatusGone)
	case "hang":
		<-req.Context().Done()
	case "late":
		select {
		case <-req.Context().Done():
		case <-time.After(time.Second):
		}
	}
}

// signed checks a signature as the text of Standard Webhooks has it.
func signed(h http.Header, body []byte, secret string) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	at, bad := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil || bad != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(h.Get("webhook-id") + "." + h.Get("webhook-timestamp") + "."))
	mac.Write(body)
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(want), []byte(h.Get("webhook-signature")))
}

// nextFault takes the first word of the file faults.
func nextFault() string {
	text, _ := os.ReadFile("faults") // none is none
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return ""
	}
	_ = os.WriteFile("faults", []byte(strings.Join(words[1:], " ")), 0o600) // the script's own folder
	return words[0]
}

func appendLine(file string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(b, '\n')) // a line that is missing fails the script
	_ = f.Close()                   // as above
}
