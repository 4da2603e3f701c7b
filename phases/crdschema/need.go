package crdschema

import (
	"fmt"
	"slices"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capstan-capi/capstan/message"
)

// Need is what a requirement asks for: a definition, its selected versions, and what is excluded of them. It holds what a
// comparison asks for, some hundred bytes for each field, and the text of the requirement. It never changes.
type Need struct {
	text     string
	name     string
	group    string
	plural   string
	kind     string
	scope    apiextensionsv1.ResourceScope
	storage  string
	selected []string
	versions map[string]neededVersion
	excluded map[string]Exclusions
}

// neededVersion is a selected version of a requirement.
type neededVersion struct {
	served        bool
	status, scale bool
	rules         int
	regexps       int
	root          *node
}

// Decode reads the specification of a requirement. The error says in which of its fields the trouble is, and in which field of
// the definition; it is a [PanicError] where a library panics.
func Decode(spec *requirementsv1alpha1.CompatibilityRequirementSpec) (need *Need, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			need, err = nil, fmt.Errorf("%s: reading it: %w", dataPath, Panicked(cause))
		}
	}()
	need, problems := Read(spec)
	return need, problems.ToAggregate()
}

// Problems is Decode with each problem and its field by itself. The need is nil if there is one. A panic of a library is one.
func Problems(spec *requirementsv1alpha1.CompatibilityRequirementSpec) (need *Need, problems field.ErrorList) {
	defer func() {
		if cause := recover(); cause != nil {
			need, problems = nil, field.ErrorList{unreadable(dataPath, fmt.Errorf("reading it: %w", Panicked(cause)))}
		}
	}()
	return Read(spec)
}

var (
	schemaPath = field.NewPath("spec", "compatibilitySchema")
	dataPath   = schemaPath.Child("customResourceDefinition", "data")
)

// Read is Problems for who recovers: a panic of a library is one.
func Read(spec *requirementsv1alpha1.CompatibilityRequirementSpec) (need *Need, problems field.ErrorList) {
	path, data := schemaPath, dataPath
	schema := spec.CompatibilitySchema
	crd, err := parse(schema.CustomResourceDefinition.Data)
	if err != nil {
		return nil, unreadables(data, err)
	}
	asInstalled(crd)
	if problems := unusable(crd, data); len(problems) > 0 {
		return nil, problems
	}
	need = &Need{
		text: schema.CustomResourceDefinition.Data, name: crd.Name, scope: crd.Spec.Scope,
		group: crd.Spec.Group, plural: crd.Spec.Names.Plural, kind: crd.Spec.Names.Kind,
	}
	if need.selected, problems = selectVersions(crd, schema.RequiredVersions, path.Child("requiredVersions")); len(problems) > 0 {
		return nil, problems
	}
	if problems := uncompiled(crd, need.selected, data); len(problems) > 0 {
		return nil, problems
	}
	if need.excluded, problems = exclusions(crd, need.selected, schema.ExcludedFields, path.Child("excludedFields")); len(problems) > 0 {
		return nil, problems
	}
	need.shape(crd)
	return need, nil
}

// shape keeps of a definition what comparisons ask for.
func (n *Need) shape(crd *apiextensionsv1.CustomResourceDefinition) {
	n.versions = make(map[string]neededVersion, len(n.selected))
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Storage {
			n.storage = version.Name
		}
		if !slices.Contains(n.selected, version.Name) {
			continue
		}
		cost := costOf(version)
		needed := neededVersion{served: version.Served, root: tree(version.Schema, false), rules: cost.rules, regexps: cost.regexps.instructions}
		if version.Subresources != nil {
			needed.status, needed.scale = version.Subresources.Status != nil, version.Subresources.Scale != nil
		}
		n.versions[version.Name] = needed
	}
}

// Name is the name of the definition.
func (n *Need) Name() string { return n.name }

// Group is the group of the definition.
func (n *Need) Group() string { return n.group }

// Plural is the name of the kind in paths.
func (n *Need) Plural() string { return n.plural }

// Namespaced says whether objects of the kind are in Namespaces.
func (n *Need) Namespaced() bool { return n.scope == apiextensionsv1.NamespaceScoped }

// Versions are the selected versions, sorted. It is read only.
func (n *Need) Versions() []string { return n.selected }

// Rules is how many rules a selected version has; each takes some 50 KiB where it is compiled.
func (n *Need) Rules(version string) int { return n.versions[version].rules }

// Regexps is how many instructions the regular expressions of a selected version have; each takes some 100 bytes where it is
// compiled.
func (n *Need) Regexps(version string) int { return n.versions[version].regexps }

// Exclusions are the fields of a version that are neither compared nor required, validated or pruned.
func (n *Need) Exclusions(version string) Exclusions { return n.excluded[version] }

// CRD reads the definition once more, defaulted as the API server does, with a status as after its creation. That takes as long
// as Decode; the need does not keep it, since it is many times as large as what comparisons ask for.
func (n *Need) CRD() *apiextensionsv1.CustomResourceDefinition {
	crd, err := parse(n.text)
	if err != nil {
		panic(fmt.Errorf("reading a definition that has been read before: %w", err))
	}
	asInstalled(crd)
	return crd
}

// asInstalled does what the API server does to a definition that is created.
func asInstalled(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
}

// Bounds of what is told of a definition: a library may have a line for each of its fields.
const (
	maxProblems = 32
	maxText     = 1024 // bytes of each
)

// unreadable is a problem with the data, without the data.
func unreadable(path *field.Path, err error) *field.Error {
	return field.Invalid(path, field.OmitValueType{}, message.ShortenInside(err.Error(), maxText))
}

// unreadables are the problems of a joined error.
func unreadables(path *field.Path, err error) (problems field.ErrorList) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all := joined.Unwrap()
		for _, err := range all[:min(len(all), maxProblems)] {
			problems = append(problems, unreadable(path, err))
		}
		return problems
	}
	return field.ErrorList{unreadable(path, err)}
}
