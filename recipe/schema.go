package recipe

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Schema is a JSON Schema of recipes for editors, made from the keys. It knows
// the shape, and which keys go together; what a recipe means is checked by Parse.
func Schema() []byte {
	keys := Keys()
	step := object(pick(keys, "step"), "id")
	step["description"] = "One step."
	step["allOf"] = stepRules()
	step["dependentRequired"] = map[string]any{"as": []string{"foreach"}, "max_parallel": []string{"foreach"}}
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
		"allOf": sharedRules(),
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
	switch typ {
	case typeText:
		if len(k.Enum) > 0 {
			return map[string]any{"enum": k.Enum}
		}
		return k.bound.text.schema()
	case typeScript:
		return formFilled.schema()
	case typeBool:
		return map[string]any{"type": "boolean"}
	case typeCount:
		return map[string]any{"type": "integer", "minimum": 1, "maximum": k.bound.most}
	case typeDuration:
		return duration(k.bound.zero)
	case typeTexts:
		return list(k)
	case typeItems:
		return map[string]any{"type": "array", "minItems": 1, "maxItems": MaxItems}
	case typeSteps:
		return map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"$ref": "#/$defs/step"}}
	case typeMapping:
		return mapping(k, inner)
	}
	return map[string]any{}
}

// list is a list of texts. Any will do, unless the key wants names.
func list(k Key) map[string]any {
	items := formAny.schema()
	if k.bound.text != formFilled {
		items = k.bound.text.schema()
	}
	items["type"] = []string{"string", "number", "boolean"}
	l := map[string]any{"type": []string{"array", "null"}, "items": items}
	if k.bound.must {
		l["type"] = "array"
	}
	return l
}

func mapping(k Key, inner []Key) map[string]any {
	o := map[string]any{}
	if len(inner) > 0 {
		o = object(inner)
	}
	o["type"] = []string{"object", "null"}
	if k.bound.must {
		o["type"] = "object"
	}
	if k.bound.one {
		o["minProperties"], o["maxProperties"] = 1, 1
	}
	if f := k.bound.names; f != formFilled {
		o["propertyNames"] = map[string]any{"pattern": f.pattern(), "maxLength": maxName}
	}
	if k.bound.names == formEnv {
		text := formAny.schema()
		text["not"] = map[string]any{"type": "string", "pattern": `\{\{`}
		o["additionalProperties"] = text
	}
	if len(k.Enum) > 0 {
		o["additionalProperties"] = map[string]any{"enum": append([]any{"", nil}, anys(k.Enum)...)}
	}
	if k.Name == "outputs" {
		from := object(describe(outputKeys, ""))
		from["minProperties"], from["maxProperties"] = 1, 1
		o["additionalProperties"] = from
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
