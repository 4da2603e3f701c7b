package packaging

import (
	"regexp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// moveToNamespace puts every namespaced object, and every reference to a
// service or service account, into Namespace.
func moveToNamespace(objects []*unstructured.Unstructured) error {
	former, kinds := formerNamespaces(objects), namespacedKinds(objects)
	for _, object := range objects {
		namespaced, known := isNamespaced(object)
		if !known {
			namespaced, known = kinds[object.GroupVersionKind().GroupKind().String()]
		}
		switch {
		case namespaced || !known && object.GetNamespace() != "":
			object.SetNamespace(Namespace)
		case known: // kustomize gives a namespace to every kind that it does not know
			object.SetNamespace("")
		}
		for _, move := range []func(*unstructured.Unstructured) error{moveSubjects, moveServices} {
			if err := move(object); err != nil {
				return err
			}
		}
		if err := renameInContainers(object, former); err != nil {
			return err
		}
	}
	return nil
}

// formerNamespaces are the names that the provider's own namespaces had: those
// it brings and those its Deployments run in.
func formerNamespaces(objects []*unstructured.Unstructured) map[string]bool {
	former := map[string]bool{}
	for _, object := range objects {
		switch {
		case isKind(object, "", "Namespace"):
			former[object.GetName()] = true
		case isKind(object, "apps", "Deployment") && object.GetNamespace() != "":
			former[object.GetNamespace()] = true
		}
	}
	return former
}

// namespacedKinds returns, for each kind that the set itself defines, as <kind>.<group>, whether it is namespaced.
func namespacedKinds(objects []*unstructured.Unstructured) map[string]bool {
	kinds := map[string]bool{}
	for _, object := range objects {
		if !isCRD(object) {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
		kinds[kind+"."+group] = scope == "Namespaced"
	}
	return kinds
}

func moveSubjects(object *unstructured.Unstructured) error {
	if !isBinding(object) {
		return nil
	}
	subjects, err := root(object).children("subjects")
	if err != nil {
		return err
	}
	for _, subject := range subjects {
		if subject.fields["kind"] == "ServiceAccount" {
			subject.fields["namespace"] = Namespace
		}
	}
	return nil
}

// moveServices changes the namespace of the Services that webhooks and aggregated APIs refer to.
func moveServices(object *unstructured.Unstructured) error {
	clients, err := clientConfigs(object)
	if err != nil {
		return err
	}
	if isKind(object, "apiregistration.k8s.io", "APIService") {
		spec, found, err := root(object).child("spec")
		if err != nil {
			return err
		}
		if found {
			clients = append(clients, spec)
		}
	}
	for _, client := range clients {
		service, found, err := client.child("service")
		if err != nil {
			return err
		}
		if found {
			service.fields["namespace"] = Namespace
		}
	}
	return nil
}

var word = regexp.MustCompile(`[A-Za-z0-9_-]+`)

// renameInContainers replaces former namespaces in commands, arguments and
// environment values, where they name a leader election or a service.
func renameInContainers(object *unstructured.Unstructured, former map[string]bool) error {
	rename := func(text string) string {
		return word.ReplaceAllStringFunc(text, func(w string) string {
			if former[w] {
				return Namespace
			}
			return w
		})
	}
	containers, err := containers(object)
	if err != nil {
		return err
	}
	for _, container := range containers {
		for _, field := range []string{"command", "args"} {
			list, err := container.list(field)
			if err != nil {
				return err
			}
			for i, value := range list {
				if text, ok := value.(string); ok {
					list[i] = rename(text)
				}
			}
		}
		variables, err := container.children("env")
		if err != nil {
			return err
		}
		for _, variable := range variables {
			if text, ok := variable.fields["value"].(string); ok {
				variable.fields["value"] = rename(text)
			}
		}
	}
	return nil
}
