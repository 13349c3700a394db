package statebytes

import (
	"bytes"
	"reflect"
	"testing"
	"time"
)

type leaf struct {
	n    int
	text string
	raw  []byte
}

type tree struct {
	name   string
	at     time.Time
	flags  map[string]bool
	pairs  map[leafKey]*leaf
	leaves []*leaf
	empty  []int
	self   *tree
	memo   int `state:"memo"`
	sum    [2]uint8
	gone   map[string]int
}

type leafKey struct {
	n    int
	text string
}

func grown() *tree {
	shared := &leaf{n: -3, text: "x", raw: []byte("raw")}
	t := &tree{
		name: "t", at: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), flags: map[string]bool{"b": true, "a": false},
		pairs:  map[leafKey]*leaf{{2, "b"}: shared, {2, "a"}: nil, {1, "z"}: {raw: shared.raw}},
		leaves: []*leaf{shared, nil, {raw: []byte{}}}, empty: []int{}, memo: 7, sum: [2]uint8{1, 255},
	}
	t.self = t
	return t
}

func TestBytesAndBack(t *testing.T) {
	t.Parallel()
	was := grown()
	b := Append(nil, was)
	if !bytes.Equal(b, Append(nil, grown())) {
		t.Error("the same value has other bytes")
	}
	var got tree
	if err := Read(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.memo != 0 {
		t.Error("a memo was kept")
	}
	got.memo = 7
	again := *was
	again.self, got.self = nil, nil
	if !reflect.DeepEqual(again, got) {
		t.Errorf("%+v, want %+v", got, again)
	}
	if got.leaves[0] != got.pairs[leafKey{2, "b"}] || &got.leaves[0].raw[0] != &got.pairs[leafKey{1, "z"}].raw[0] {
		t.Error("what was shared is there twice")
	}
	if got.empty == nil || got.gone != nil || got.leaves[2].raw == nil {
		t.Error("empty and absent were mixed up")
	}
}

func TestShapeTellsTypesApart(t *testing.T) {
	t.Parallel()
	type one struct{ B int }
	type two struct{ C int }
	x, _ := Shape[one]() // all of it has bytes
	y, _ := Shape[two]()
	if x == y {
		t.Error("another field is another shape")
	}
	if _, err := Shape[struct{ f func() }](); err == nil {
		t.Error("a function has bytes")
	}
	if _, err := Shape[map[[2]bool]int](); err == nil {
		t.Error("flags have an order")
	}
	if _, err := Shape[struct{ v any }](); err == nil {
		t.Error("anything has bytes")
	}
}

// Whatever the bytes are, reading them ends, and does not panic.
func FuzzRead(f *testing.F) {
	f.Add(Append(nil, grown()))
	f.Add([]byte{1, 0, 1, 'x'})
	f.Fuzz(func(_ *testing.T, b []byte) {
		var got tree
		_ = Read(b, &got) // a value, or ErrUnfit
	})
}
