package config

import (
	"fmt"
	"slices"
	"strings"
)

// When the plan of belay do is reviewed.
const (
	ReviewAlways  = "always"
	ReviewNever   = "never"
	ReviewSeveral = "several" // with more than one workstream

	MostReviews = 9 // rounds of a review; the shipped recipe has no more
)

func review(text string) (string, error) {
	text = strings.TrimSpace(text)
	if !slices.Contains([]string{ReviewAlways, ReviewNever, ReviewSeveral}, text) {
		return "", fmt.Errorf("%q is none of always, never and several", text)
	}
	return text, nil
}

func reviews(text string) (int, error) {
	n, err := count(text)
	if err != nil || n > MostReviews {
		return 0, fmt.Errorf("%q is not a number from 1 to %d", text, MostReviews)
	}
	return n, nil
}
