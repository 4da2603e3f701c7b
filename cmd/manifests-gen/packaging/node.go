package packaging

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FieldError says which field of which object cannot be packaged, and why.
type FieldError struct {
	// Object is the kind and name, e.g. "Deployment capa-system/capa-controller-manager".
	Object string
	// Field is a path such as "spec.template.spec.containers[0].image".
	Field string
	// Reason completes the sentence "the field ...".
	Reason string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: field %s %s", e.Object, e.Field, e.Reason)
}

func describe(object *unstructured.Unstructured) string {
	if object.GetNamespace() == "" {
		return object.GetKind() + " " + object.GetName()
	}
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// node is a mapping inside an object together with the path that leads to it,
// so that an error can name the field. It shares memory with the object.
type node struct {
	object *unstructured.Unstructured
	path   string
	fields map[string]any
}

func root(object *unstructured.Unstructured) node {
	return node{object: object, fields: object.Object}
}

func (n node) errorf(field, format string, args ...any) error {
	return &FieldError{Object: describe(n.object), Field: n.join(field), Reason: fmt.Sprintf(format, args...)}
}

func (n node) join(field string) string {
	if n.path == "" {
		return field
	}
	return n.path + "." + field
}

// child follows a dotted path of mappings; found is false when one of them is absent or null.
func (n node) child(path string) (c node, found bool, err error) {
	for name := range strings.SplitSeq(path, ".") {
		value, ok := n.fields[name]
		if !ok || value == nil {
			return node{}, false, nil
		}
		fields, ok := value.(map[string]any)
		if !ok {
			return node{}, false, n.errorf(name, "is %s, not a mapping", shape(value))
		}
		n = node{object: n.object, path: n.join(name), fields: fields}
	}
	return n, true, nil
}

// ensure is child, creating what is absent.
func (n node) ensure(path string) (node, error) {
	for name := range strings.SplitSeq(path, ".") {
		if value, ok := n.fields[name]; !ok || value == nil {
			n.fields[name] = map[string]any{}
		}
		next, _, err := n.child(name)
		if err != nil {
			return node{}, err
		}
		n = next
	}
	return n, nil
}

// list is the list in a field; an absent or null one is empty.
func (n node) list(field string) ([]any, error) {
	value, ok := n.fields[field]
	if !ok || value == nil {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, n.errorf(field, "is %s, not a list", shape(value))
	}
	return list, nil
}

// children are the mappings of the list in a field.
func (n node) children(field string) ([]node, error) {
	list, err := n.list(field)
	if err != nil {
		return nil, err
	}
	nodes := make([]node, len(list))
	for i, value := range list {
		element := field + "[" + strconv.Itoa(i) + "]"
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, n.errorf(element, "is %s, not a mapping", shape(value))
		}
		nodes[i] = node{object: n.object, path: n.join(element), fields: fields}
	}
	return nodes, nil
}

// text is the string in a field; an absent or null one is empty.
func (n node) text(field string) (string, error) {
	value, ok := n.fields[field]
	if !ok || value == nil {
		return "", nil
	}
	text, ok := value.(string)
	if !ok {
		return "", n.errorf(field, "is %s, not a string", shape(value))
	}
	return text, nil
}

// texts are the strings of the list in a field.
func (n node) texts(field string) ([]string, error) {
	list, err := n.list(field)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(list))
	for i, value := range list {
		text, ok := value.(string)
		if !ok {
			return nil, n.errorf(field+"["+strconv.Itoa(i)+"]", "is %s, not a string", shape(value))
		}
		texts[i] = text
	}
	return texts, nil
}

// each visits the mappings at a dotted path, in which a name that ends in []
// stands for every element of a list. Absent mappings are not visited.
func (n node) each(path string, visit func(node) error) error {
	if path == "" {
		return visit(n)
	}
	name, rest, _ := strings.Cut(path, ".")
	list, isList := strings.CutSuffix(name, "[]")
	if !isList {
		child, found, err := n.child(name)
		if err != nil || !found {
			return err
		}
		return child.each(rest, visit)
	}
	children, err := n.children(list)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := child.each(rest, visit); err != nil {
			return err
		}
	}
	return nil
}

func shape(value any) string {
	switch value.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	}
	return "a number"
}
