// Package statebytes makes bytes of a value in memory, and the value of the bytes:
// all its fields, with an exported name or without, what lies behind pointers, and
// what is shared stays shared. The same value is the same bytes.
//
// Only the program that wrote the bytes can read them: Shape tells whether its
// types are the same. It refuses values with functions, channels, interfaces or
// fractions in them.
package statebytes

import (
	"cmp"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Tag is the key of the tag by which a field is left out: "memo" only saves work,
// "derived" follows from the rest and is made anew by whoever reads it.
const Tag = "state"

// maxDepth bounds how deep values lie in each other.
const maxDepth = 100

// kept lists the fields of a struct that are not left out.
func kept(t reflect.Type) []int {
	var list []int
	for i := range t.NumField() {
		if t.Field(i).Tag.Get(Tag) == "" {
			list = append(list, i)
		}
	}
	return list
}

// Shape is a fingerprint of a type and of all that it is made of.
func Shape[T any]() (string, error) {
	var text strings.Builder
	known := map[reflect.Type]bool{}
	var walk func(reflect.Type) error
	walk = func(t reflect.Type) error {
		fmt.Fprintf(&text, "%s %s", t, t.Kind())
		if known[t] {
			return nil
		}
		known[t] = true
		if bytesOf(t) {
			return nil
		}
		switch t.Kind() {
		case reflect.Struct:
			for _, i := range kept(t) {
				text.WriteString("\n." + t.Field(i).Name + " ")
				if err := walk(t.Field(i).Type); err != nil {
					return err
				}
			}
			return nil
		case reflect.Map:
			if !ordered(t.Key()) {
				return fmt.Errorf("the keys of a %s have no order", t)
			}
			if err := walk(t.Key()); err != nil {
				return err
			}
			return walk(t.Elem())
		case reflect.Slice, reflect.Array, reflect.Pointer:
			return walk(t.Elem())
		case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			return nil
		case reflect.Invalid, reflect.Float32, reflect.Float64, reflect.Uintptr, reflect.Complex64, reflect.Complex128, reflect.Chan, reflect.Func, reflect.Interface, reflect.UnsafePointer:
		}
		return fmt.Errorf("a %s has no bytes", t)
	}
	if err := walk(reflect.TypeFor[T]()); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text.String()))
	return fmt.Sprintf("%x", sum[:8]), nil
}

// bytesOf tells the one type that makes bytes of itself: its fields are not ours.
func bytesOf(t reflect.Type) bool { return t == reflect.TypeFor[time.Time]() }

// field is one that can be read and set although it has no exported name.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}

// place is where bytes lie: two that lie at the same place are one.
type place struct {
	at uintptr
	n  int
	t  reflect.Type
}

// Append adds the bytes of what p points to.
func Append[T any](b []byte, p *T) []byte {
	w := &writer{buf: b, texts: map[string]uint64{}, places: map[place]uint64{}, structs: map[reflect.Type][]int{}}
	w.value(reflect.ValueOf(p).Elem())
	return w.buf
}

// ErrUnfit says that bytes are not those of such a value.
var ErrUnfit = errors.New("the bytes do not fit the value")

// Read makes what p points to of its bytes. Fields that were left out, or were
// zero, stay as they are.
func Read[T any](b []byte, p *T) error {
	r := &reader{buf: b, structs: map[reflect.Type][]int{}, places: []reflect.Value{{}}} // place 0 is nothing
	if err := r.value(reflect.ValueOf(p).Elem(), 0); err != nil {
		return err
	}
	if len(r.buf) > 0 {
		return ErrUnfit
	}
	return nil
}

// writer writes values. What is met a second time, behind a pointer or as
// bytes or as a text, is written once.
type writer struct {
	buf     []byte
	texts   map[string]uint64
	places  map[place]uint64
	structs map[reflect.Type][]int
}

func (w *writer) uint(n uint64) { w.buf = binary.AppendUvarint(w.buf, n) }

// once tells whether what lies at a place is to be written: it was not before.
func (w *writer) once(p place) bool {
	n, ok := w.places[p]
	if !ok {
		n = uint64(len(w.places)) + 1 // 0 is nothing
		w.places[p] = n
	}
	w.uint(n)
	return !ok
}

// value writes one value; it can be addressed.
func (w *writer) value(v reflect.Value) {
	t := v.Type()
	if bytesOf(t) {
		b, err := v.Interface().(encoding.BinaryMarshaler).MarshalBinary()
		if err != nil {
			b = nil // a zone with seconds in its offset: such a time is in no record
		}
		w.uint(uint64(len(b)))
		w.buf = append(w.buf, b...)
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		w.fields(v, t)
	case reflect.Map:
		w.pairs(v, t)
	case reflect.Slice:
		switch {
		case v.IsNil():
			w.uint(0)
		case t.Elem().Kind() == reflect.Uint8:
			if w.once(place{v.Pointer(), v.Len(), t}) {
				w.uint(uint64(v.Len()))
				w.buf = append(w.buf, v.Bytes()...)
			}
		default:
			w.uint(uint64(v.Len()) + 1)
			for i := range v.Len() {
				w.value(v.Index(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Pointer:
		if v.IsNil() {
			w.uint(0)
		} else if w.once(place{v.Pointer(), 0, t}) {
			w.value(v.Elem())
		}
	case reflect.String:
		w.text(v.String())
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		w.uint(n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.buf = binary.AppendVarint(w.buf, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.uint(v.Uint())
	}
}

func (w *writer) text(s string) {
	n, ok := w.texts[s]
	if !ok {
		n = uint64(len(w.texts))
		w.texts[s] = n
	}
	w.uint(n)
	if !ok {
		w.uint(uint64(len(s)))
		w.buf = append(w.buf, s...)
	}
}

// fields writes those of a struct that are not zero, each with its number.
func (w *writer) fields(v reflect.Value, t reflect.Type) {
	list, ok := w.structs[t]
	if !ok {
		list = kept(t)
		w.structs[t] = list
	}
	for n, i := range list {
		if f := field(v, i); !f.IsZero() {
			w.uint(uint64(n) + 1)
			w.value(f)
		}
	}
	w.uint(0)
}

// pairs writes a map in the order of its keys.
func (w *writer) pairs(v reflect.Value, t reflect.Type) {
	if v.IsNil() {
		w.uint(0)
		return
	}
	w.uint(uint64(v.Len()) + 1)
	keys := v.MapKeys()
	slices.SortFunc(keys, compareKeys)
	key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	for _, k := range keys {
		key.Set(k)
		elem.Set(v.MapIndex(k))
		w.value(key)
		w.value(elem)
	}
}

// ordered tells whether compareKeys knows a type.
func ordered(t reflect.Type) bool {
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if !ordered(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() == reflect.String || reflect.Zero(t).CanInt()
}

// compareKeys orders keys of maps: texts, numbers, and structs of these.
func compareKeys(a, b reflect.Value) int {
	switch a.Kind() {
	case reflect.String:
		return strings.Compare(a.String(), b.String())
	case reflect.Struct:
		for i := range a.NumField() {
			if c := compareKeys(a.Field(i), b.Field(i)); c != 0 {
				return c
			}
		}
		return 0
	}
	return cmp.Compare(a.Int(), b.Int())
}

// reader reads what a writer wrote.
type reader struct {
	buf     []byte
	texts   []string
	places  []reflect.Value
	structs map[reflect.Type][]int
}

func (r *reader) uint() (uint64, error) {
	n, size := binary.Uvarint(r.buf)
	if size <= 0 {
		return 0, ErrUnfit
	}
	r.buf = r.buf[size:]
	return n, nil
}

// count reads a number of things, of which each has at least a byte.
func (r *reader) count() (int, error) {
	n, err := r.uint()
	if err != nil || n > uint64(len(r.buf))+1 {
		return 0, ErrUnfit
	}
	return int(n), nil
}

func (r *reader) take() ([]byte, error) {
	n, err := r.count()
	if err != nil || n > len(r.buf) {
		return nil, ErrUnfit
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b, nil
}

// value reads into v, which can be set and is zero.
func (r *reader) value(v reflect.Value, deep int) error {
	t := v.Type()
	if deep > maxDepth {
		return ErrUnfit
	}
	if bytesOf(t) {
		b, err := r.take()
		if err != nil || len(b) == 0 {
			return err
		}
		if err := v.Addr().Interface().(encoding.BinaryUnmarshaler).UnmarshalBinary(b); err != nil {
			return fmt.Errorf("a time: %w", err)
		}
		return nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return r.fields(v, t, deep)
	case reflect.Map:
		return r.pairs(v, t, deep)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return r.bytes(v, t)
		}
		n, err := r.count()
		if err != nil || n == 0 {
			return err
		}
		v.Set(reflect.MakeSlice(t, n-1, n-1))
		return r.elems(v, deep)
	case reflect.Array:
		return r.elems(v, deep)
	case reflect.Pointer:
		return r.pointed(v, t, deep)
	case reflect.String:
		return r.text(v)
	}
	return r.number(v)
}

// met reads the number of something that may have been there before.
func (r *reader) met(v reflect.Value, t reflect.Type) (before bool, err error) {
	n, err := r.uint()
	switch {
	case err != nil:
		return false, err
	case n == 0:
		return true, nil
	case n == uint64(len(r.places)):
		return false, nil
	case n > uint64(len(r.places)) || r.places[n].Type() != t:
		return false, ErrUnfit
	}
	v.Set(r.places[n])
	return true, nil
}

func (r *reader) pointed(v reflect.Value, t reflect.Type, deep int) error {
	if before, err := r.met(v, t); err != nil || before {
		return err
	}
	v.Set(reflect.New(t.Elem()))
	r.places = append(r.places, reflect.ValueOf(v.Interface()))
	return r.value(v.Elem(), deep+1)
}

func (r *reader) bytes(v reflect.Value, t reflect.Type) error {
	if before, err := r.met(v, t); err != nil || before {
		return err
	}
	b, err := r.take()
	if err != nil {
		return err
	}
	v.SetBytes(append(make([]byte, 0, len(b)), b...)) // what is empty is not nil
	r.places = append(r.places, reflect.ValueOf(v.Interface()))
	return nil
}

func (r *reader) text(v reflect.Value) error {
	n, err := r.uint()
	switch {
	case err != nil || n > uint64(len(r.texts)):
		return ErrUnfit
	case n == uint64(len(r.texts)):
		b, err := r.take()
		if err != nil {
			return err
		}
		r.texts = append(r.texts, string(b))
	}
	v.SetString(r.texts[n])
	return nil
}

func (r *reader) elems(v reflect.Value, deep int) error {
	for i := range v.Len() {
		if err := r.value(v.Index(i), deep+1); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) fields(v reflect.Value, t reflect.Type, deep int) error {
	list, ok := r.structs[t]
	if !ok {
		list = kept(t)
		r.structs[t] = list
	}
	for {
		n, err := r.uint()
		if err != nil || n == 0 {
			return err
		}
		if n > uint64(len(list)) {
			return ErrUnfit
		}
		if err := r.value(field(v, list[n-1]), deep+1); err != nil {
			return err
		}
	}
}

func (r *reader) pairs(v reflect.Value, t reflect.Type, deep int) error {
	n, err := r.count()
	if err != nil || n == 0 {
		return err
	}
	v.Set(reflect.MakeMapWithSize(t, n-1))
	for range n - 1 {
		key, elem := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if err := r.value(key, deep+1); err != nil {
			return err
		}
		if err := r.value(elem, deep+1); err != nil {
			return err
		}
		v.SetMapIndex(key, elem)
	}
	return nil
}

func (r *reader) number(v reflect.Value) error {
	switch {
	case v.CanInt():
		n, size := binary.Varint(r.buf)
		if size <= 0 {
			return ErrUnfit
		}
		r.buf = r.buf[size:]
		v.SetInt(n)
		return nil
	case v.Kind() == reflect.Bool:
		n, err := r.uint()
		v.SetBool(n == 1)
		return err
	}
	n, err := r.uint()
	v.SetUint(n)
	return err
}
