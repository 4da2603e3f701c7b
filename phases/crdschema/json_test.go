package crdschema_test

import (
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// inJSON is a definition as JSON.
func inJSON(t testing.TB, text string) string {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDecode_reads_JSON_as_it_reads_YAML(t *testing.T) {
	for _, spec := range []string{
		someSpec,
		`{type: object, additionalProperties: {type: string, default: "a \"quoted\" {[ brace \\"}}`,
		`{type: array, items: {type: object, properties: {a: {type: integer, maximum: 9007199254740993}}}}`,
		`{type: string, description: "äöü\n\t\u2028", enum: ["1", "1e3", "null", "~", ""]}`,
	} {
		text := definition(spec)
		fromYAML, fromJSON := decoded(t, specification(text)), decoded(t, specification(inJSON(t, text)))
		if want, got := fromYAML.CRD(), fromJSON.CRD(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: as JSON it is %+v, as YAML %+v", spec, got, want)
		}
	}
}

func TestDecode_refuses_in_JSON_what_it_refuses_in_YAML(t *testing.T) {
	items := inJSON(t, definition(`{type: array, items: {type: object, properties: {a: {type: string}}}}`))
	deep := inJSON(t, definition(strings.Repeat("{type: array, items: ", 210)+"{type: string}"+strings.Repeat("}", 210)))
	for name, c := range map[string]struct {
		data string
		want []string
	}{
		"a key twice":          {strings.Replace(items, `"scope":`, `"scope":"Cluster","scope":`, 1), []string{`duplicate field "spec.scope"`}},
		"a key twice in items": {strings.ReplaceAll(items, `"items":{`, `"items":{"type":"string",`), []string{`duplicate field`, `items.type`}},
		"misspelt in items":    {strings.ReplaceAll(items, `"items":{`, `"items":{"typ":"string",`), []string{`unknown field`, `items.typ`}},
		"two documents":        {items + "\n---\n" + items, []string{"more than one document"}},
		"rubbish behind it":    {items + "}", []string{"reading YAML"}},
		"too deep":             {deep, []string{"more than 200 maps and lists are inside each other"}},
	} {
		t.Run(name, func(t *testing.T) { refused(t, specification(c.data), c.want) })
	}
}
