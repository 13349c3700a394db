package tracker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	perPage   = 100 // GitHub gives no more
	maxLabels = 20
)

// GitHub is a repository on GitHub, asked through gh. Texts go to it as JSON on
// standard input.
type GitHub struct {
	Environ []string
	Repo    string   // [HOST/]OWNER/NAME
	Hold    *os.File // stays open in every call, as long as that runs; nil = nothing
	Policy  Policy
}

// post is an issue in the words of GitHub.
type post struct {
	Number      int             `json:"number"`
	URL         string          `json:"html_url"`
	State       string          `json:"state"`
	Body        string          `json:"body"`
	Created     time.Time       `json:"created_at"`
	Closed      *time.Time      `json:"closed_at"`
	PullRequest json.RawMessage `json:"pull_request"`
}

// carries tells whether it is an issue with the fingerprint, and which.
func (p post) carries(mark string) (Issue, bool) {
	filing, ok := MarkIn(p.Body, mark)
	is := Issue{Number: p.Number, URL: p.URL, Open: p.State == "open", Created: p.Created, Filing: filing}
	if p.Closed != nil {
		is.Closed = *p.Closed
	}
	return is, ok && p.PullRequest == nil && p.Number > 0
}

// Find looks through the newest issues, which a search may not know yet, and asks
// the search for those that are older than all of them. It asks GitHub itself, and
// not gh issue list: that takes the search as soon as a label is asked for.
func (g GitHub) Find(ctx context.Context, q Query) ([]Issue, error) {
	found := map[int]Issue{}
	if q.Known > 0 {
		var p post
		err := g.get(ctx, g.path("issues", strconv.Itoa(q.Known)), &p)
		if err != nil && kindOf(err) != TroubleRefused { // one that was moved or removed is looked for
			return nil, err
		}
		if is, ok := p.carries(q.Mark); err == nil && ok {
			if is.Open && !q.Whole {
				return []Issue{is}, nil
			}
			found[is.Number] = is
		}
	}
	whole := false
	for page := 1; page <= g.Policy.Pages && !whole; page++ {
		var list []post
		at := g.path("issues") + "?state=all&sort=created&direction=desc&per_page=" + strconv.Itoa(perPage) + "&page=" + strconv.Itoa(page)
		if err := g.get(ctx, at, &list); err != nil {
			return nil, err
		}
		add(found, list, q.Mark)
		whole = len(list) < perPage
	}
	if !whole {
		if err := g.search(ctx, q.Mark, found); err != nil {
			return nil, err
		}
	}
	list := make([]Issue, 0, len(found))
	for _, is := range found {
		list = append(list, is)
	}
	return list, nil
}

func add(found map[int]Issue, list []post, mark string) {
	for _, p := range list {
		if is, ok := p.carries(mark); ok {
			found[is.Number] = is
		}
	}
}

func (g GitHub) search(ctx context.Context, mark string, found map[int]Issue) error {
	_, name := g.place()
	words := fmt.Sprintf("repo:%s is:issue in:body \"belay-fingerprint: %s\"", name, mark)
	var answer struct {
		Incomplete bool   `json:"incomplete_results"`
		Items      []post `json:"items"`
	}
	if err := g.get(ctx, "search/issues?per_page="+strconv.Itoa(perPage)+"&q="+url.QueryEscape(words), &answer); err != nil {
		return err
	}
	add(found, answer.Items, mark)
	if answer.Incomplete && len(found) == 0 {
		return lostAnswer("gh api", "the search was cut short")
	}
	return nil
}

// Said looks through the newest comments.
func (g GitHub) Said(ctx context.Context, mark string, number int, since time.Time) (bool, error) {
	var list []struct {
		Body string `json:"body"`
	}
	at := g.path("issues", strconv.Itoa(number), "comments") + "?per_page=" + strconv.Itoa(perPage) + "&since=" + since.UTC().Format(time.RFC3339)
	if err := g.get(ctx, at, &list); err != nil {
		return false, err
	}
	for _, c := range list {
		if SaidIn(c.Body, mark) {
			return true, nil
		}
	}
	return len(list) >= perPage, nil // so much was said today that one more word is too many
}

// Do does one act with one call.
func (g GitHub) Do(ctx context.Context, act Act) (Issue, error) {
	var p post
	one := g.path("issues", strconv.Itoa(act.Number))
	var err error
	switch act.Kind {
	case ActCreate:
		labels, bad := g.known(ctx, act.Labels)
		if bad != nil {
			return Issue{}, bad
		}
		err = g.call(ctx, "POST", g.path("issues"), map[string]any{"title": act.Title, "body": act.Text, "labels": labels}, &p)
		if err == nil && p.Number == 0 {
			err = lostAnswer("gh api", "the answer names no issue")
		}
	case ActComment:
		err = g.call(ctx, "POST", one+"/comments", map[string]any{"body": act.Text}, nil)
	case ActReopen:
		err = g.call(ctx, "PATCH", one, map[string]any{"state": "open"}, &p)
	case ActClose:
		err = g.call(ctx, "PATCH", one, map[string]any{"state": "closed", "state_reason": "not_planned"}, &p)
		if err == nil {
			_ = g.call(ctx, "POST", one+"/comments", map[string]any{"body": act.Text}, nil) // it is closed; why can be seen in the other one, too
		}
	}
	if err != nil {
		return Issue{}, err
	}
	return Issue{Number: cmp.Or(p.Number, act.Number), URL: p.URL, Open: p.State == "open", Created: p.Created}, nil
}

// known leaves out labels that the repository lacks: GitHub would make them.
// Nothing was done yet when that cannot be told.
func (g GitHub) known(ctx context.Context, labels []string) ([]string, error) {
	list := []string{}
	for _, l := range labels[:min(len(labels), maxLabels)] {
		err := g.get(ctx, g.path("labels", l), nil)
		switch {
		case err == nil:
			list = append(list, l)
		case kindOf(err) != TroubleRefused && kindOf(err) != TroubleLost: // an issue without a label is better than none
			return nil, err
		}
	}
	return list, nil
}

// place is the host, "" for the usual one, and OWNER/NAME.
func (g GitHub) place() (host, name string) {
	if strings.Count(g.Repo, "/") == 2 {
		host, name, _ = strings.Cut(g.Repo, "/")
		return host, name
	}
	return "", g.Repo
}

func (g GitHub) path(parts ...string) string {
	_, name := g.place()
	at := "repos/" + name
	for _, p := range parts {
		at += "/" + url.PathEscape(p)
	}
	return at
}

func (g GitHub) get(ctx context.Context, path string, into any) error {
	return g.call(ctx, "GET", path, nil, into)
}

// call asks once. What the status line says decides, not the words of gh.
func (g GitHub) call(ctx context.Context, method, path string, body, into any) error {
	args := []string{"api", "--include", "--method", method, path}
	if host, _ := g.place(); host != "" {
		args = append(args, "--hostname", host)
	}
	var in []byte
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return &Trouble{Kind: TroubleRefused, Op: "gh api", Detail: err.Error()}
		}
		in, args = b, append(args, "--input", "-")
	}
	r := g.run(ctx, args, in)
	if r.trouble != nil {
		return r.trouble
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(r.body, into); err != nil {
		return lostAnswer("gh api", "the answer could not be read: %v", err)
	}
	return nil
}

// reply is an answer of GitHub.
type reply struct {
	status  int
	head    map[string]string
	body    []byte
	trouble *Trouble
}

// readReply takes apart what gh api --include prints: a status line, headers, an
// empty line, the body.
func readReply(out []byte) (reply, bool) {
	r := reply{head: map[string]string{}}
	line, rest, ok := bytes.Cut(out, []byte("\n"))
	proto, after, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	code, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	n, err := strconv.Atoi(code)
	if !ok || !strings.HasPrefix(proto, "HTTP/") || err != nil {
		return r, false
	}
	r.status = n
	for {
		line, rest, ok = bytes.Cut(rest, []byte("\n"))
		text := strings.TrimSpace(string(line))
		if text == "" {
			r.body = rest
			return r, true
		}
		if !ok {
			return r, true
		}
		name, value, _ := strings.Cut(text, ":")
		r.head[strings.ToLower(name)] = strings.TrimSpace(value)
	}
}

// judge says what an answer amounts to; nil is well.
func (r reply) judge() *Trouble {
	var said struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(r.body, &said) // only to tell people more
	t := &Trouble{Op: "gh api", Detail: strings.TrimSpace(fmt.Sprintf("HTTP %d %s", r.status, cut(said.Message, maxTitle)))}
	switch {
	case r.status >= 200 && r.status < 300:
		return nil
	case r.status == 401:
		t.Kind, t.Hint = TroubleLogin, "run gh auth login"
	case r.status == 429, r.status == 403 && (r.head["retry-after"] != "" || r.head["x-ratelimit-remaining"] == "0"):
		t.Kind, t.Hint = TroubleLimit, "wait, then run belay issue sync"
	case r.status == 408 || r.status >= 500:
		t.Kind = TroubleLost
	default:
		t.Kind, t.Hint = TroubleRefused, "check the name of the repository and what the login may do there"
	}
	return t
}
