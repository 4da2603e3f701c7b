package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/crdschema"
	"github.com/capstan-capi/capstan/phases/render/policy"
)

const (
	// RequirementsComponent is the component of shape requirements, which goes before all others. No image can have one of
	// that name.
	RequirementsComponent = "capstan.requirements"
	// DefinitionAnnotation names, on a requirement that a revision derives, the CustomResourceDefinition that it is about.
	DefinitionAnnotation = "capi-operator.openshift.io/required-crd"

	shapePrefix   = "capstan-shape"
	objectsPrefix = "capstan-objects"

	// maxObjectName is how long the name of an object can be, in bytes, maxAdditional how many versions a requirement can add.
	maxObjectName = 253
	maxAdditional = 32
	// maxRequirement is how many bytes a requirement may have as JSON, so that it can be stored with its status. The
	// definition in it is a text there, each quote of which takes two.
	maxRequirement = maxObject - 64<<10
)

var requirementKind = schema.GroupVersionKind{Group: "apiextensions.openshift.io", Version: "v1alpha1", Kind: "CompatibilityRequirement"}

// deprecated is what Cluster API takes out of a status without a new version.
const deprecated = "status.deprecated"

// Derived says whether a CompatibilityRequirement of this name is one that revisions derive, and whether it is about the
// shape of a definition; else it is about its objects.
func Derived(name string) (shape, derived bool) {
	shape = strings.HasPrefix(name, shapePrefix+".") || strings.HasPrefix(name, shapePrefix+"-long.")
	return shape, shape || strings.HasPrefix(name, objectsPrefix+".") || strings.HasPrefix(name, objectsPrefix+"-long.")
}

// shapeName is the name of the requirement with this spec on the shape of a definition. A definition's name that is too long
// gives way to its hash, under a prefix that no other name begins with.
func shapeName(crd string, spec map[string]any) string {
	hash := hashed(string(appendJSON(nil, spec)))[:8]
	if name := shapePrefix + "." + crd + "." + hash; len(name) <= maxObjectName {
		return name
	}
	return shapePrefix + "-long." + hashed(crd) + "." + hash
}

// objectsName is the name of the requirement on the objects of a definition.
func objectsName(crd string) string {
	if name := objectsPrefix + "." + crd; len(name) <= maxObjectName {
		return name
	}
	return objectsPrefix + "-long." + hashed(crd)
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// needs are what a revision asks of definitions that others have, collected while its components are rendered.
type needs struct {
	unmanaged   map[string]bool       // the names that are listed
	definitions map[string]definition // those of them that are rendered
	versions    map[string]map[string]place
}

// definition is an unmanaged CustomResourceDefinition as an image has it.
type definition struct {
	component int // that renders it
	fields    map[string]any
	at        place
}

func needsOf(unmanaged []string) needs {
	n := needs{unmanaged: map[string]bool{}, definitions: map[string]definition{}}
	for _, name := range unmanaged {
		n.unmanaged[name] = true
	}
	return n
}

// note takes from an object what it needs of definitions, and the definition that it may be.
func (n *needs) note(component int, m *manifest, listed bool) {
	if m.id.group == crdKind.Group && m.id.kind == crdKind.Kind && n.unmanaged[m.id.name] {
		n.definitions[m.id.name] = definition{component: component, fields: m.fields, at: m.at}
	}
	annotations, _ := m.metadata["annotations"].(map[string]any)
	text, given := annotations[policy.VersionsAnnotation].(string)
	if !given {
		return
	}
	if cause := n.add(m.at, text); cause != "" && !listed { // what is listed was let through once
		m.report("metadata.annotations["+policy.VersionsAnnotation+"]", "%s", cause)
	}
}

var versionName = regexp.MustCompile(`^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`)

// add takes what an annotation says, and gives back what is wrong with it.
func (n *needs) add(at place, text string) (cause string) {
	for entry := range strings.SplitSeq(text, ",") {
		version, crd, _ := strings.Cut(strings.TrimSpace(entry), "/")
		if !versionName.MatchString(version) || len(validation.IsDNS1123Subdomain(crd)) > 0 {
			cause = fmt.Sprintf("%q is not of the form <version>/<name of a CustomResourceDefinition>, with commas between several", message.Shorten(entry, 300))
			continue
		}
		if n.versions == nil {
			n.versions = map[string]map[string]place{}
		}
		if n.versions[crd] == nil {
			n.versions[crd] = map[string]place{}
		}
		n.versions[crd][version] = at
	}
	return cause
}

// rendered are the unmanaged definitions that the revision renders, sorted, and the listed names that nothing renders.
func (n *needs) rendered() (rendered, nowhere []string) {
	for _, name := range slices.Sorted(maps.Keys(n.unmanaged)) {
		if _, is := n.definitions[name]; is {
			rendered = append(rendered, name)
		} else {
			nowhere = append(nowhere, name)
		}
	}
	return rendered, nowhere
}

// requirement is one that the revision derives, and the index of the component that it belongs to, -1 for the one before all.
type requirement struct {
	component int
	object    *unstructured.Unstructured
}

// requirements derives what the revision asks of unmanaged definitions: of the shape of each, and of the objects of each
// that are in the namespace of Cluster API.
func (r *renderer) requirements(rev *Revision, namespace string, seen map[identity]place) (derived []requirement) {
	for _, crd := range rev.Unmanaged {
		d := r.needs.definitions[crd]
		asked, ok := r.schemaOf(crd, d)
		if !ok {
			continue
		}
		shape := map[string]any{
			"compatibilitySchema":                      asked,
			"customResourceDefinitionSchemaValidation": map[string]any{"action": "Deny"},
		}
		derived = append(derived, requirement{-1, required(shapeName(crd, shape), crd, RequirementsComponent, shape)})
		if spec, _ := d.fields["spec"].(map[string]any); spec["scope"] != "Namespaced" {
			continue
		}
		derived = append(derived, requirement{d.component, required(objectsName(crd), crd, rev.Components[d.component].Name, map[string]any{
			"compatibilitySchema": asked,
			"objectSchemaValidation": map[string]any{
				"action":            "Deny",
				"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}},
			},
		})})
	}
	for _, d := range derived {
		crd := d.object.GetAnnotations()[DefinitionAnnotation]
		if size := len(appendJSON(nil, d.object.Object)); size > maxRequirement && !r.listed {
			r.report(r.needs.definitions[crd].at.problem("", fmt.Sprintf(
				"it is listed as unmanaged, and CompatibilityRequirement %s with it as a text would have %d bytes, more than the %d that a cluster can store with its status",
				d.object.GetName(), size, maxRequirement)))
		}
		if at, taken := seen[identity{group: requirementKind.Group, kind: requirementKind.Kind, name: d.object.GetName()}]; taken {
			r.report(at.problem("metadata.name", "the name is one that Capstan gives to the requirements of revisions"))
		}
	}
	return derived
}

func required(name, crd, component string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": requirementKind.GroupVersion().String(), "kind": requirementKind.Kind,
		"metadata": map[string]any{
			"name":        name,
			"labels":      map[string]any{policy.ManagedByLabel: component},
			"annotations": map[string]any{DefinitionAnnotation: crd},
		},
		"spec": spec,
	}}
}

// schemaOf is what both requirements say of a definition: all of it as it is rendered, the versions that are used, and
// what of them does not count; false if a version is asked for that it lacks.
func (r *renderer) schemaOf(crd string, d definition) (asked map[string]any, ok bool) {
	additional := slices.Sorted(maps.Keys(r.needs.versions[crd]))
	if len(additional) > maxAdditional && !r.listed {
		r.report(d.at.problem("", fmt.Sprintf("%d versions of it are asked for by annotations %s, and a requirement takes at most %d", len(additional), policy.VersionsAnnotation, maxAdditional)))
		return nil, false
	}
	has, versions := map[string]bool{}, versionsIn(d.fields)
	var excluded []any
	for _, v := range versions {
		name, _ := v["name"].(string)
		has[name] = true
		if (v["storage"] == true || slices.Contains(additional, name)) && hasDeprecated(v) {
			excluded = append(excluded, name)
		}
	}
	ok = true
	for _, version := range additional {
		if !has[version] && !r.listed {
			r.report(r.needs.versions[crd][version].problem("metadata.annotations["+policy.VersionsAnnotation+"]",
				fmt.Sprintf("CustomResourceDefinition %s has no version %s", crd, version)))
			ok = false
		}
	}
	required := map[string]any{"defaultSelection": "StorageOnly"}
	if len(additional) > 0 {
		var all []any
		for _, version := range additional {
			all = append(all, version)
		}
		required["additionalVersions"] = all
	}
	asked = map[string]any{
		"customResourceDefinition": map[string]any{"type": "YAML", "data": string(appendJSON(nil, withoutMarks(d.fields)))},
		"requiredVersions":         required,
	}
	if len(excluded) > 0 {
		asked["excludedFields"] = []any{map[string]any{"path": deprecated, "versions": excluded}}
	}
	return asked, ok && r.usable(d, asked)
}

// usable reports what the checker would refuse of a requirement on a definition, which nothing could be compared with.
func (r *renderer) usable(d definition, asked map[string]any) bool {
	if r.listed {
		return true // it was let through once
	}
	spec := &requirementsv1alpha1.CompatibilityRequirementSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(map[string]any{"compatibilitySchema": asked}, spec); err != nil {
		r.report(d.at.problem("", "it is listed as unmanaged, and no CompatibilityRequirement can be made of it: "+err.Error()))
		return false
	}
	need, problems := crdschema.Problems(spec)
	for _, problem := range problems {
		r.report(d.at.problem("", "it is listed as unmanaged, and a CompatibilityRequirement with it would be refused: "+problem.Error()))
	}
	return need != nil
}

// withoutMarks is an object without the labels that say who applies it, which no requirement is about. What they share is
// not changed.
func withoutMarks(fields map[string]any) map[string]any {
	fields = maps.Clone(fields)
	metadata, _ := fields["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	labels, _ := metadata["labels"].(map[string]any)
	labels = maps.Clone(labels)
	delete(labels, policy.ManagedByLabel)
	delete(labels, policy.ExceptedLabel)
	metadata["labels"] = labels
	if len(labels) == 0 {
		delete(metadata, "labels")
	}
	fields["metadata"] = metadata
	return fields
}

func versionsIn(crd map[string]any) (versions []map[string]any) {
	spec, _ := crd["spec"].(map[string]any)
	for _, entry := range list(spec, "versions") {
		if v, is := entry.(map[string]any); is {
			versions = append(versions, v)
		}
	}
	return versions
}

// hasDeprecated says that a version of a definition has the field that is not required of others.
func hasDeprecated(version map[string]any) bool {
	_, has, err := unstructured.NestedFieldNoCopy(version, "schema", "openAPIV3Schema", "properties", "status", "properties", "deprecated")
	return has && err == nil
}
