package rewrite

import "bytes"

// anOpenAPI is a document of OpenAPI v2 or v3, or the index of v3. The paths and
// definitions of groups that a client is not to find are left out.
func anOpenAPI() *place {
	below := new(place)
	kinds := object(in("group", aGroup))
	kinds.items = object(in("group", aGroup))
	kinds.dropItem = dropNamed("group")
	below.other, below.items = below, below
	// The keys of properties are names of fields, whatever they look like.
	properties := &place{other: below}
	ref := new(place)
	below.with(
		in("$ref", ref), in("x-kubernetes-group-version-kind", kinds),
		in("default", nil), in("enum", nil), in("example", nil),
		in("properties", properties), in("patternProperties", properties),
	)
	*ref = *below
	ref.rule = refRule

	item := *below
	item.keys = append([]member(nil), below.keys...)
	item.with(in("serverRelativeURL", &place{rule: urlRule}))
	paths := &place{other: &item, dropKey: dropPath, keyRule: pathRule}
	definitions := &place{other: below, dropKey: dropDefinition, keyRule: definitionRule}
	components := object(in("schemas", definitions))
	components.other = below

	root := object(in("paths", paths), in("definitions", definitions), in("components", components))
	root.other = below
	sniffing(root, "kind", sniffKind)
	sniffing(root, "apiVersion", sniffVersion)
	root.status = aStatus(OpenAPI)
	return root
}

func dropPath(path []byte) bool {
	start, end := groupInPath(path)
	return ofPlatform(path[start:end])
}

func dropDefinition(name []byte) bool {
	return ofPlatform(definitionGroup(name))
}

// Definition is what the client sees as the name of a definition; ok is false if
// it is not to see it at all. It and those below are for readers of documents in
// other forms than JSON.
func Definition(name string) (seen string, ok bool) {
	return seenAs(definitionRule, name), !dropDefinition([]byte(name))
}

// DefinitionRef is what the client sees as a reference to a definition.
func DefinitionRef(ref string) string {
	return seenAs(refRule, ref)
}

// DocumentPath is what the client sees as a path of a document, or of its index;
// ok is false if it is not to see it at all.
func DocumentPath(path string) (seen string, ok bool) {
	return seenAs(pathRule, path), !dropPath([]byte(path))
}

// Discovered is what the client sees as a group that the server has; ok is false if
// it is not to see it at all.
func Discovered(group string) (seen string, ok bool) {
	return seenAs(groupRule, group), !ofPlatform(group)
}

func seenAs(r rule, text string) string {
	edits, _ := r.edits(ToClient, []byte(text))
	var seen bytes.Buffer
	from := 0
	for _, edit := range edits {
		if edit.with != "" {
			seen.WriteString(text[from:edit.from] + edit.with)
			from = edit.to
		}
	}
	seen.WriteString(text[from:])
	return seen.String()
}
