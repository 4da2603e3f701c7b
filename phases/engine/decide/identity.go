package decide

import "slices"

// Identity is how an installation tells its own objects from others'. Two installations with different identities
// never touch each other's objects.
type Identity struct {
	Owner        string   // value of OwnerAnnotation
	Label        string   // value of ManagedByLabel; empty: the name of the component
	FieldManager string   // owns the fields that are applied
	Legacy       []string // field managers whose fields count as our own
	Namespaces   []string // in which no tenant can write
	// Spares are objects that stay as they are although they carry our marks, unless a revision has them; nil for none.
	Spares func(Key) bool
}

// Spared says that nobody is to make anything of an object's marks.
func (us Identity) Spared(key Key) bool { return us.Spares != nil && us.Spares(key) }

// Guards says that no tenant can write objects of a namespace, nor those of the cluster, for which it is empty. What their
// managedFields say is true.
func (us Identity) Guards(namespace string) bool {
	return namespace == "" || slices.Contains(us.Namespaces, namespace)
}

// Selector selects the objects of the installation, as far as labels tell.
func (us Identity) Selector() string {
	if us.Label == "" {
		return ManagedByLabel
	}
	return ManagedByLabel + "=" + us.Label
}

// Selects says whether the selector selects an object with these labels.
func (us Identity) Selects(labels map[string]string) bool {
	value, labelled := labels[ManagedByLabel]
	return labelled && (us.Label == "" || us.Label == value)
}

// Stamp is what is written on the objects of a component in a revision.
func (us Identity) Stamp(component string, number int64) Stamp {
	return Stamp{Component: component, Number: number, owner: us.Owner, label: us.Label}
}
