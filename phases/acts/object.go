package acts

import (
	"fmt"
	"strconv"
	"strings"
)

// Object is what an item names an object by, and in Rest what it says of it besides.
type Object struct {
	Group, Kind, Namespace, Name string
	Rest                         []string
}

// ObjectOf reads what an item of key object says.
func ObjectOf(value string) Object {
	parts := strings.Split(value, " ")
	if len(parts) < 2 {
		return Object{}
	}
	o := Object{Name: parts[1], Rest: parts[2:]}
	o.Kind, o.Group, _ = strings.Cut(parts[0], ".")
	if namespace, name, has := strings.Cut(parts[1], "/"); has {
		o.Namespace, o.Name = namespace, name
	}
	return o
}

// String is the object as an item names it, without the rest.
func (o Object) String() string {
	kind, name := o.Kind, o.Name
	if o.Group != "" {
		kind += "." + o.Group
	}
	if o.Namespace != "" {
		name = o.Namespace + "/" + name
	}
	return kind + " " + name
}

// Named reads an object that somebody names for an act: as an item does, or with a slash in place of the space.
func Named(text string) (Object, error) {
	value := text
	if !strings.Contains(text, " ") {
		value = strings.Replace(text, "/", " ", 1)
	}
	if !compiled[objectPattern].MatchString(value) {
		return Object{}, fmt.Errorf("%q names no object: write it as Kind.group/namespace/name, without what it does not have, such as Deployment.apps/a/b or Namespace/a", text)
	}
	return ObjectOf(value), nil
}

// Objects are those that an act is about, in their order.
func (a Act) Objects() []Object {
	var all []Object
	for _, item := range a.Items {
		if item.Key == "object" {
			all = append(all, ObjectOf(item.Value))
		}
	}
	return all
}

// Revision is the number of the revision that an act is for, 0 for none.
func (a Act) Revision() int64 {
	for _, item := range a.Items {
		if item.Key == "revision" {
			number, _ := strconv.ParseInt(item.Value[strings.LastIndex(item.Value, "-")+1:], 10, 64) // its pattern ends with a number
			return number
		}
	}
	return 0
}

// RevisionName is the name of the revision that an act is for, of release, content and number; empty for an act that has the number only.
func (a Act) RevisionName() string {
	for _, item := range a.Items {
		if item.Key == "revision" && a.Name == ConsentToUninstall {
			return item.Value
		}
	}
	return ""
}

// List is the fingerprint of the list of images by whose change a rollback ends, empty for none.
func (a Act) List() string {
	for _, item := range a.Items {
		if item.Key == "list" {
			return item.Value
		}
	}
	return ""
}

// About says in a few words what objects, or which revision by its name, an act is about; empty for none.
func (a Act) About() string {
	if name := a.RevisionName(); name != "" {
		return "revision " + name
	}
	objects := a.Objects()
	if len(objects) == 0 {
		return ""
	}
	text := objects[0].String()
	if len(objects) > 1 {
		text += fmt.Sprintf(" and %d more", len(objects)-1)
	}
	return text
}
