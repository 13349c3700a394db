package recipe

import (
	"strconv"
	"strings"
)

// MaxItems is how many items a foreach may have.
const MaxItems = 1000

// WholeNumber tells whether a text is safe in the arithmetic of a shell: a
// whole decimal number. One with a zero in front would be octal there.
func WholeNumber(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil && (len(digits) == 1 || digits[0] != '0')
}
