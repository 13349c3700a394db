package rehearse

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/exit"
	"github.com/belay-run/belay/internal/readable"
)

// Cell is one rehearsal of a matrix: a fault at a step of a recipe.
type Cell struct {
	Recipe string     `json:"recipe"` // as it was named
	Step   belay.Path `json:"step,omitempty"`
	Fault  Fault      `json:"fault,omitempty"` // "" = a good day

	Code  int           `json:"exit_code"`
	Word  string        `json:"word"`            // how it ended, in one word
	Run   bool          `json:"run"`             // false: it was not played
	Why   string        `json:"why,omitempty"`   // why it was not, or what went wrong
	Bad   bool          `json:"bad,omitempty"`   // a false 0, an endless run, no answer at all, or a good day that fails
	Took  time.Duration `json:"took,omitempty"`  // on the clock of the machine
	Story *Story        `json:"story,omitempty"` // of one that is bad
}

// okWord is the word of a rehearsal that ended well, with the step done.
const okWord = "ok"

// NotHit is the word on record of a rehearsal in which the step with the fault did not run.
const NotHit = "not hit"

// Cells are all rehearsals of a recipe: a good day, and every fault at every
// step. Those that cannot be played say why.
func Cells(recipe string, targets []Target) []Cell {
	list := []Cell{{Recipe: recipe, Run: true}}
	for _, t := range targets {
		for _, f := range Faults() {
			c := Cell{Recipe: recipe, Step: t.Step, Fault: f, Run: true, Word: "-"}
			if err := t.Fits(f); err != nil {
				c.Run, c.Why = false, err.Error()
				if f == Hang && t.Type.Row().Shell {
					c.Word = "endless"
				}
			}
			list = append(list, c)
		}
	}
	return list
}

// Sample leaves so many of the faults of a recipe to be played, chosen by the seed,
// and the good day.
func Sample(cells []Cell, n, seed int) {
	list := order(cells)
	list = slices.DeleteFunc(list, func(i int) bool { return cells[i].Fault == "" })
	rand.New(rand.NewPCG(uint64(seed), 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for _, i := range list[min(n, len(list)):] {
		cells[i].Run, cells[i].Word, cells[i].Why = false, "not played", "it is not in the sample"
	}
}

// Fill plays all cells, so many side by side.
func Fill(ctx context.Context, cells []Cell, workers int, play func(context.Context, Cell) (Story, error), seen func(Cell)) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := make(chan int)
	for range max(1, workers) {
		wg.Go(func() {
			for i := range next {
				began := time.Now()
				told, err := play(ctx, cells[i])
				mu.Lock()
				cells[i].take(told, err, time.Since(began))
				seen(cells[i])
				mu.Unlock()
			}
		})
	}
	for _, i := range order(cells) {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
}

// order puts those first that take longest.
func order(cells []Cell) []int {
	var list []int
	for i := range cells {
		if cells[i].Run {
			list = append(list, i)
		}
	}
	weight := map[Fault]int{Hang: -2, Flood: -1}
	slices.SortStableFunc(list, func(a, b int) int { return weight[cells[a].Fault] - weight[cells[b].Fault] })
	return list
}

// take puts what came of a rehearsal into its cell.
func (c *Cell) take(s Story, err error, took time.Duration) {
	c.Code, c.Took = s.Code, took
	hit := c.Fault == ""
	for _, f := range s.Faults {
		hit = hit || len(f.Hits) > 0
	}
	switch {
	case err != nil:
		c.Code, c.Bad, c.Word, c.Why = exit.Code(err), true, "error", err.Error()
	case s.Endless:
		c.Bad, c.Word, c.Why = true, "endless", "it did not end in its time"
	case s.False():
		c.Bad, c.Word, c.Why = true, "FALSE", "it ended in 0, and no attempt did the work"
	case s.Missed():
		c.Bad, c.Word, c.Why = true, "missed", "the driver was not killed"
	case c.Fault == "" && s.Code != exit.OK:
		c.Bad, c.Word = true, strings.ToLower(string(s.Status))
		c.Why = "without any fault the run does not reach its goal, so the faults show nothing: " + cmp.Or(belay.Plain(s.Reason), c.Word)
	case !hit:
		c.Word = NotHit
	case s.claimed():
		c.Word = "claim"
	case s.onWord():
		c.Word = "person"
	case s.Code == exit.OK && c.lost(s):
		c.Word = "optional"
	case s.Code == exit.OK:
		c.Word = okWord
	default:
		c.Word = strings.ToLower(string(s.Status))
	}
	if c.Bad {
		c.Story = &s
	}
}

// lost tells whether the run did without the step.
func (c *Cell) lost(s Story) bool {
	for _, f := range s.Faults {
		if f.Good == "" {
			return true
		}
	}
	return false
}

// Name is which rehearsal it is.
func (c Cell) Name() string {
	if c.Fault == "" {
		return c.Recipe
	}
	return fmt.Sprintf("%s %s=%s", c.Recipe, c.Step, c.Fault)
}

// String is what stands in the table.
func (c Cell) String() string {
	if !c.Run {
		return c.Word
	}
	if c.Word == okWord {
		return okWord
	}
	return fmt.Sprintf("%s (%d)", shown(c.Word), c.Code)
}

// shown is the word of a cell for people, who read the same one on every other screen.
func shown(word string) string {
	if word == NotHit {
		return "not reached"
	}
	return word
}

// Table is the matrix for people: a row for each step, a column for each fault. Where that
// is wider than width, 0 = no bound, each step has its faults below it.
func Table(cells []Cell, width int) []string {
	head := []string{"recipe/step"}
	for _, f := range Faults() {
		head = append(head, string(f))
	}
	rows := [][]string{head}
	for _, c := range cells {
		if c.Fault == "" {
			rows = append(rows, []string{c.Recipe + ", no fault: " + c.String()})
			continue
		}
		name := "  " + string(c.Step)
		if c.Fault == Faults()[0] {
			rows = append(rows, []string{name})
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], c.String())
	}
	lines := align(rows)
	if width <= 0 || !slices.ContainsFunc(lines, func(l string) bool { return readable.Width(l) > width }) {
		if legend := Legend(cells); len(legend) > 0 {
			lines = append(append(lines, "", "Columns: the simulated fault; belay rehearse --help explains them. kill9: Belay is killed while the step runs, and resumed.", "Cells: how the run ended, with its exit code.", "failed and held are no mistakes: nothing could repair the fault, and the run said so."), legend...)
		}
		return lines
	}
	return stacked(rows, width)
}

// stacked is the matrix for a narrow screen. Faults that came to the same stand together.
func stacked(rows [][]string, width int) (lines []string) {
	const under = "    "
	head := rows[0]
	for _, row := range rows[1:] {
		lines = append(lines, readable.Hang(row[0], width, len(under))...)
		var words []string
		faults := map[string][]string{}
		for i, cell := range row[1:] {
			if faults[cell] == nil {
				words = append(words, cell)
			}
			faults[cell] = append(faults[cell], head[i+1])
		}
		for _, word := range words {
			lines = append(lines, readable.Hang(under+spelled(word)+": "+strings.Join(faults[word], ", "), width, 2*len(under))...)
		}
	}
	return lines
}

// meanings are what the words of cells mean.
var meanings = []struct{ word, means string }{
	{"-", "does not apply to this step"},
	{"endless", "not tried: the step has no timeout, so a hang would never end"},
	{"not played", "left out of the sample"},
	{NotHit, "the run ended before it came to the step"},
	{okWord, "the run ended well, and the step was done"},
	{"optional", "the run ended well without the step, which is optional"},
	{"claim", "the run ended well on a claim that nothing checks"},
	{"person", "the run ended well because a person said that the work is there (--answer STEP=done)"},
	{"held", "the run is held for a person"},
	{"hollow", "the run failed because an agent said that it was done, and Belay saw nothing done"},
	{"FALSE", "the run ended well, and nobody did the work"},
}

// spelled is a cell in words.
func spelled(cell string) string {
	word, code, played := strings.Cut(cell, " (")
	means := word
	for _, m := range meanings {
		if shown(m.word) == word {
			means = m.means
		}
	}
	if played {
		return means + " (exit " + code
	}
	return means
}

// Legend says what the words in the cells of a wide table mean.
func Legend(cells []Cell) []string {
	var lines []string
	for _, m := range meanings {
		if slices.ContainsFunc(cells, func(c Cell) bool { return c.Fault != "" && c.Word == m.word }) {
			lines = append(lines, "  "+shown(m.word)+": "+m.means)
		}
	}
	return lines
}

func align(rows [][]string) []string {
	var widths []int
	for _, r := range rows {
		for i, w := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(r) > 1 {
				widths[i] = max(widths[i], len([]rune(w)))
			}
		}
	}
	var lines []string
	for _, r := range rows {
		line := ""
		for i, w := range r {
			line += fmt.Sprintf("%-*s  ", widths[i], w)
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}
