package sim

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"time"
)

// dice is chance from a seed.
type dice struct{ *rand.Rand }

// newDice makes the dice of a seed for one purpose: what one purpose draws
// does not change what another one gets.
func newDice(seed uint64, purpose string) dice {
	h := fnv.New64a()
	h.Write([]byte(purpose))
	return dice{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// maybe is true n times in a thousand.
func (d dice) maybe(n int) bool { return d.IntN(1000) < n }

// between draws a duration such that every order of magnitude is as likely. It
// calculates with whole numbers, which are the same on every machine.
func (d dice) between(lo, hi time.Duration) time.Duration {
	v := lo << d.IntN(bits.Len64(uint64(hi/lo)))
	return min(v+time.Duration(d.Int64N(int64(v))), hi)
}

// of draws one of a list.
func of[T any](d dice, list ...T) T { return list[d.IntN(len(list))] }
