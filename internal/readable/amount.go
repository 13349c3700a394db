package readable

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay"
)

// Used is what an agent told about its use, "" when it told nothing.
func Used(u belay.Usage) string {
	var words []string
	if n := u.Tokens(); n > 0 {
		words = append(words, Count(n)+" tokens")
	}
	if u.MicroUSD > 0 {
		words = append(words, Dollars(u.MicroUSD))
	}
	return strings.Join(words, ", ")
}

// Count is a big number as people say it: 950, 1.5k, 23k, 1.2M.
func Count(n int64) string {
	const kilo, mega, giga = 1e3, 1e6, 1e9
	switch f := float64(n); {
	case n < kilo:
		return fmt.Sprint(n)
	case n < 9950:
		return fmt.Sprintf("%.1fk", f/kilo)
	case n < mega-500:
		return fmt.Sprintf("%.0fk", f/kilo)
	case n < giga:
		return fmt.Sprintf("%.1fM", f/mega)
	default:
		return fmt.Sprintf("%.1fG", f/giga)
	}
}

// Many is a number of things: 1 file, 2 files.
func Many(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// Dollars is an amount of millionths of a dollar. Less than ten cents are shown
// with all their places: a sum of them is what matters.
func Dollars(micro int64) string {
	if micro >= 100_000 {
		return fmt.Sprintf("$%.2f", float64(micro)/1e6)
	}
	text := strings.TrimRight(fmt.Sprintf("%.6f", float64(micro)/1e6), "0")
	for len(text) < len("0.00") {
		text += "0"
	}
	return "$" + text
}
