package agent_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/agent"
)

// The closing line is read strictly: the last line that is not blank, a word of
// the list, and a text after " -- " where one is due.
// promise: H3, S7
func TestClose(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"It is done.\n\nACHIEVED":                            "ACHIEVED|",
		"It is done.\nACHIEVED \n\n \n":                      "ACHIEVED|",
		"It is done.\r\nACHIEVED\r\n":                        "ACHIEVED|",
		"ACHIEVED":                                           "ACHIEVED|",
		"I did a.\nPARTIAL -- b is missing":                  "PARTIAL|b is missing",
		"No.\nNOT_ACHIEVED -- the disk is full":              "NOT_ACHIEVED|the disk is full",
		"Fine as it is.\nNOTHING_TO_DO -- the flag is there": "NOTHING_TO_DO|the flag is there",
		"Which one?\nNEEDS_INPUT -- which of the two":        "NEEDS_INPUT|which of the two",
		"I lied.\nHOLLOW -- nothing was done":                "HOLLOW|nothing was done",
		"a\nPARTIAL -- b -- c":                               "PARTIAL|b -- c",
		"PARTIAL -- b\nThen I did b.\nACHIEVED":              "UNCLEAR|PARTIAL and ACHIEVED",
		"ACHIEVED\nmore\nACHIEVED":                           "ACHIEVED|",
		"PARTIAL -- a\nPARTIAL -- b":                         "PARTIAL|b",
		"It is done.":                                        "",
		"":                                                   "",
		"\n \n":                                              "",
		"ACHIEVED\nIt is done.":                              "", // not the last line
		"It is ACHIEVED":                                     "",
		"ACHIEVED.":                                          "",
		"**ACHIEVED**":                                       "",
		"`ACHIEVED`":                                         "",
		"- ACHIEVED":                                         "",
		"  ACHIEVED":                                         "",
		"Achieved":                                           "",
		"ACHIEVED -- all of it":                              "", // it has no text
		"PARTIAL":                                            "", // and this one must have one
		"PARTIAL --":                                         "",
		"PARTIAL -- ":                                        "",
		"PARTIAL--b":                                         "",
		"PARTIAL - b":                                        "",
		"PARTIAL: b":                                         "",
		"NOT ACHIEVED -- b":                                  "",
		"status: PARTIAL -- b":                               "",
		"DONE -- b":                                          "",
		"```\nACHIEVED\n```":                                 "",
		"UNCLEAR -- x":                                       "",
		"End with a line ACHIEVED or PARTIAL -- why.\nBye now": "",
	} {
		rest, c := agent.Close(answer)
		got := ""
		if c != nil {
			got = string(c.Word) + "|" + c.Text
		}
		if got != want {
			t.Errorf("%q: %q, want %q", answer, got, want)
		}
		switch taken := c != nil && c.Word != belay.ClosedUnclear; {
		case !taken && rest != answer:
			t.Errorf("%q became %q", answer, rest)
		case taken && (!strings.HasPrefix(answer, rest) || strings.HasSuffix(rest, "\n")):
			t.Errorf("%q leaves %q", answer, rest)
		}
	}
	if rest, c := agent.Close(strings.Repeat("word\n", 1<<20) + "PARTIAL -- the end"); c == nil || len(rest) != 5<<20-1 {
		t.Error("a long answer loses its closing line")
	}
}
