package recipe

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Schema is a JSON Schema of recipes for editors, made from the keys. It knows
// the shape only: what a recipe means is checked by Parse.
func Schema() []byte {
	keys := Keys()
	step := object(pick(keys, "step"), "id")
	step["description"] = "One step."
	top := object(pick(keys, "top"), "name", "steps")
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "A recipe of Belay"
	defaults := map[string]any{}
	for i := range stepKeys.keys {
		if k := &stepKeys.keys[i]; !k.own && k.read != nil {
			defaults[k.name] = step["properties"].(map[string]any)[k.name]
		}
	}
	top["properties"].(map[string]any)["defaults"] = map[string]any{
		"description": doc(keys, "defaults"), "type": []string{"object", "null"}, "properties": defaults, "additionalProperties": false,
	}
	top["$defs"] = map[string]any{"step": step}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(top) // maps of texts and lists always encode
	return b.Bytes()
}

// pick is the part of the keys that stand in one place and work.
func pick(keys []Key, on string) []Key {
	var list []Key
	for _, k := range keys {
		if k.On == on && k.Works {
			list = append(list, k)
		}
	}
	return list
}

func doc(keys []Key, name string) string {
	for _, k := range keys {
		if k.Name == name {
			return k.Doc
		}
	}
	return ""
}

// object is the schema of a mapping with these keys; those with a dot in their
// name belong to the mapping before the dot.
func object(keys []Key, required ...string) map[string]any {
	inner := map[string][]Key{}
	for _, k := range keys {
		if parent, name, nested := strings.Cut(k.Name, "."); nested {
			k.Name = name
			inner[parent] = append(inner[parent], k)
		}
	}
	properties := map[string]any{}
	for _, k := range keys {
		if !strings.Contains(k.Name, ".") {
			properties[k.Name] = property(k, inner[k.Name])
		}
	}
	o := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

func property(k Key, inner []Key) map[string]any {
	forms := make([]any, 0, len(k.Types))
	for _, typ := range k.Types {
		forms = append(forms, valueForm(k, typ, inner))
	}
	p := map[string]any{"anyOf": forms}
	if len(forms) == 1 {
		p = forms[0].(map[string]any)
	}
	p["description"] = k.Doc
	return p
}

// valueForm is the schema of one kind of value.
func valueForm(k Key, typ string, inner []Key) map[string]any {
	plain := []string{"string", "number", "boolean", "null"} // any plain value is a text
	switch typ {
	case typeText:
		if len(k.Enum) > 0 {
			return map[string]any{"enum": k.Enum}
		}
		return map[string]any{"type": plain}
	case typeScript:
		return map[string]any{"type": plain}
	case typeBool:
		return map[string]any{"type": "boolean"}
	case typeCount:
		return map[string]any{"type": "integer", "minimum": 1}
	case typeDuration:
		return map[string]any{"anyOf": []any{
			map[string]any{"type": "integer", "minimum": 0},
			map[string]any{"type": "string", "pattern": `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`},
		}}
	case typeTexts:
		return map[string]any{"type": []string{"array", "null"}, "items": map[string]any{"type": []string{"string", "number", "boolean"}}}
	case typeSteps:
		return map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"$ref": "#/$defs/step"}}
	case typeMapping:
		return mapping(k, inner)
	}
	return map[string]any{}
}

func mapping(k Key, inner []Key) map[string]any {
	if len(inner) > 0 {
		o := object(inner)
		o["type"] = []string{"object", "null"}
		return o
	}
	o := map[string]any{"type": []string{"object", "null"}}
	if len(k.Enum) > 0 {
		o["additionalProperties"] = map[string]any{"enum": append([]any{"", nil}, anys(k.Enum)...)}
	}
	if k.Name == "outputs" {
		o["additionalProperties"] = object(describe(outputKeys, ""))
	}
	return o
}

func anys(words []string) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = w
	}
	return list
}
