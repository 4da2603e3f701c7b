package rewrite

// Points of documents that many kinds share.
var (
	aGroup    = &place{rule: groupRule}
	aName     = &place{rule: nameRule}
	aMessage  = &place{rule: messageRule}
	someNames = each(aName)
	// someGroups are lists of groups, in what selects requests.
	someGroups = each(aGroup)
	// reference is an object that refers to another one.
	reference = object(in("apiVersion", aGroup))
	// selecting is a rule that selects requests by their groups.
	selecting = object(in("apiGroups", someGroups))

	// anywhere is a value in an object of a kind that is mapped.
	anywhere = newAnywhere()
)

func newAnywhere() *place {
	below := new(place)
	below.other, below.items = below, below
	apiVersion := new(place)
	below.with(
		in("apiVersion", apiVersion), in("apiGroup", apiVersion),
		in("labels", nil), in("annotations", nil), in("fieldsV1", nil),
	)
	*apiVersion = *below
	apiVersion.rule = groupRule
	return below
}

// metadata is the metadata of any object; name is what its name is.
func metadata(name *place) *place {
	return object(in("ownerReferences", each(reference)), in("managedFields", each(reference)), in("name", name))
}

// anObject is what an object of a class is, at the root of a document if it is
// what a request is about.
func anObject(class Class) *place {
	root := object(in("metadata", metadata(nil)))
	switch class {
	case MappedKinds:
		return mappedObject()
	case Definitions:
		root = object(in("metadata", metadata(aName)), in("spec", object(in("group", aGroup))))
	case AccessReviews:
		root.with(in("spec", object(in("resourceAttributes", &place{look: lookAtAttributes}))))
	case RulesReviews:
		root.with(in("status", object(in("resourceRules", each(&place{look: lookAtAllowed})))))
	case WebhookConfigurations:
		root.with(in("webhooks", each(object(in("rules", each(selecting))))))
	case AdmissionPolicies:
		matched := object(in("resourceRules", each(selecting)), in("excludeResourceRules", each(selecting)))
		root.with(in("spec", object(in("matchConstraints", matched), in("matchResources", matched), in("paramKind", reference))))
	case Events:
		root.with(in("involvedObject", reference), in("related", reference))
	case EventsV1:
		root.with(in("regarding", reference), in("related", reference))
	case Autoscalers:
		root.with(in("spec", object(in("scaleTargetRef", reference))))
	}
	return root
}

// mappedObject is what an object of a mapped kind is. Its apiVersion must be of a
// group that a client may address.
func mappedObject() *place {
	root := *anywhere
	root.as = anywhere
	root.keys = append([]member(nil), anywhere.keys...)
	for i := range root.keys {
		if root.keys[i].key == "apiVersion" {
			apiVersion := *root.keys[i].place
			apiVersion.rule, apiVersion.as = rootRule, root.keys[i].place
			root.keys[i].place = &apiVersion
		}
	}
	return &root
}

// aStatus is an answer about a request for a class.
func aStatus(class Class) *place {
	details := object(in("group", aGroup), in("causes", each(object(in("message", aMessage)))))
	if class == Definitions {
		details.with(in("name", aName))
	}
	return object(in("message", aMessage), in("details", details))
}

// aTable is an answer about objects that is made for people.
func aTable(class Class, row *place) *place {
	cells := object(in("object", row))
	if class == Definitions {
		cells.with(in("cells", someNames))
	}
	return object(in("rows", each(cells)))
}

// anAnswer is what the server answers: an object, or, listed, what has a list of
// them; or a table of them; or a Status.
func anAnswer(class Class, listed bool) *place {
	one := anObject(class)
	root := *one
	root.keys = append([]member(nil), one.keys...)
	if listed && class != MappedKinds {
		root = *object(in("items", each(one)))
	}
	sniffing(&root, "kind", sniffKind)
	sniffing(&root, "apiVersion", sniffVersion)
	root.status = aStatus(class)
	if class != MappedKinds {
		root.table = aTable(class, one)
	}
	return &root
}

// sniffing has the string at a key tell of what kind the object is, beside what
// becomes of it.
func sniffing(root *place, key string, what sniff) {
	for i := range root.keys {
		if root.keys[i].key == key {
			sniffed := *root.keys[i].place
			sniffed.sniff = what
			root.keys[i].place = &sniffed
			return
		}
	}
	sniffed := &place{sniff: what}
	if root.other != nil {
		copied := *root.other
		copied.sniff = what
		sniffed = &copied
	}
	root.with(in(key, sniffed))
}
