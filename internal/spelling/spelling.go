// Package spelling finds the word that was likely meant.
package spelling

import "strings"

// Near is the known word that was most likely meant by word, "" when none is
// close. The first of equally close ones wins.
func Near(word string, known []string) string {
	low := strings.ToLower(word)
	limit := 1
	if len(low) > 4 {
		limit = 2
	}
	if len(low) < 2 || len(low) > maxNear {
		return ""
	}
	best, found := limit+1, ""
	for _, k := range known {
		if d := distance(low, strings.ToLower(k), best-1); d < best {
			best, found = d, k
		}
		if best == 0 {
			break
		}
	}
	return found
}

// maxNear is the length over which no guess is made: nobody mistypes it, and
// guessing would take long.
const maxNear = 60

// distance is how many letters must be added, left out, changed or swapped with
// their neighbour to get from a to b; more than limit is limit+1.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	older, old, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range old {
		old[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(old[j]+1, row[j-1]+1, old[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], older[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		older, old, row = old, row, older
	}
	return min(old[len(b)], limit+1)
}
