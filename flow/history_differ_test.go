package flow

import (
	"fmt"
	"reflect"
	"slices"
)

// apart says where two values differ, "" for nowhere. What is empty and what is
// not there count as the same: records on disk do not tell them apart.
func apart(at string, a, b reflect.Value) string {
	if a.IsValid() != b.IsValid() {
		return at + ": only one of them is there"
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return fmt.Sprintf("%s: %s and %s", at, a.Type(), b.Type())
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return fmt.Sprintf("%s: nil is %v, was %v", at, a.IsNil(), b.IsNil())
			}
			return ""
		}
		return apart(at, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if d := apart(at+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %v, was %v", at, a, b)
		}
		for i := range a.Len() {
			if d := apart(fmt.Sprintf("%s[%d]", at, i), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Map:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %v, was %v", at, a, b)
		}
		for _, k := range slices.Clone(a.MapKeys()) {
			if d := apart(fmt.Sprintf("%s[%v]", at, k), a.MapIndex(k), b.MapIndex(k)); d != "" {
				return d
			}
		}
		return ""
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %v, was %v", at, a, b)
	}
	return ""
}
