package support

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine"
)

var definitionKind = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// heldDefinition is how a CustomResourceDefinition stands, without its schemas.
type heldDefinition struct {
	Name     string        `json:"name"`
	Absent   bool          `json:"absent,omitempty"`
	Deleted  *metav1.Time  `json:"deleted,omitempty"`
	Versions []heldVersion `json:"versions,omitempty"`
	Stored   []string      `json:"storedVersions,omitempty"`
	// Conversion is how versions are converted into each other.
	Conversion apiextensionsv1.ConversionStrategyType              `json:"conversion,omitempty"`
	Conditions []apiextensionsv1.CustomResourceDefinitionCondition `json:"conditions,omitempty"`
}

type heldVersion struct {
	Name       string `json:"name"`
	Served     bool   `json:"served"`
	Storage    bool   `json:"storage"`
	Deprecated bool   `json:"deprecated,omitempty"`
}

// maxDefinitions bounds how many are looked at: each answer has all schemas.
const maxDefinitions = 500

func (c *collector) definitions(ctx context.Context, name string) error {
	names, kept, why := slices.Sorted(slices.Values(c.found.definitions)), []heldDefinition{}, ""
	if len(names) == 0 {
		return &LackError{Why: "no inventory and no requirement that could be read names any"}
	}
	if len(names) > maxDefinitions {
		why, names = fmt.Sprintf("there are %d, and %d are looked at", len(names), maxDefinitions), names[:maxDefinitions]
	}
	for _, one := range names {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		found, err := c.cluster.get(ctx, definitionKind, "", one, crd)
		if err != nil {
			return err
		}
		held := heldDefinition{Name: one, Absent: !found, Deleted: crd.DeletionTimestamp, Stored: crd.Status.StoredVersions, Conditions: crd.Status.Conditions}
		for _, v := range crd.Spec.Versions {
			held.Versions = append(held.Versions, heldVersion{Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated})
		}
		if crd.Spec.Conversion != nil {
			held.Conversion = crd.Spec.Conversion.Strategy
		}
		kept = append(kept, held)
	}
	return c.add(name, kept, why)
}

// heldManagers tells who manages which fields of an object.
type heldManagers struct {
	Object   string        `json:"object"`
	Why      string        `json:"why,omitempty"`
	Managers []heldManager `json:"managers,omitempty"`
}

type heldManager struct {
	Manager     string       `json:"manager"`
	Operation   string       `json:"operation"`
	Subresource string       `json:"subresource,omitempty"`
	APIVersion  string       `json:"apiVersion"`
	At          *metav1.Time `json:"at,omitempty"`
	// Fields are paths; elements of lists have no more than their place, since what they are known by is their content.
	Fields []string `json:"fields"`
}

const (
	maxContested = 50
	maxFields    = 500
)

// managers tells of objects that others keep changing. Of these only metadata is asked for, and never of Secrets and of instances
// of what revisions define.
func (c *collector) managers(ctx context.Context, name string) error {
	kept, why := []heldManagers{}, ""
	for i, contested := range c.found.contested {
		if i == maxContested {
			why = fmt.Sprintf("there are %d, and %d are looked at", len(c.found.contested), maxContested)
			break
		}
		held := heldManagers{Object: contested.Object}
		at := slices.IndexFunc(c.found.objects, func(k engine.Key) bool { return k.String() == contested.Object })
		switch {
		case at < 0:
			held.Why = "no inventory that could be read lists it"
		case c.isData(c.found.objects[at]):
			held.Why = "it is not asked for: it may hold what is secret"
		default:
			var err error
			if held.Managers, err = c.managersOf(ctx, c.found.objects[at]); err != nil {
				held.Why = err.Error()
			}
		}
		kept = append(kept, held)
	}
	return c.add(name, kept, why)
}

// isData says that an object is a Secret, or an instance of a definition.
func (c *collector) isData(key engine.Key) bool {
	if key.Group == "" && key.Kind == "Secret" || strings.HasSuffix(key.Group, "cluster.x-k8s.io") {
		return true
	}
	return slices.ContainsFunc(c.found.definitions, func(name string) bool { return key.Group != "" && strings.HasSuffix(name, "."+key.Group) })
}

func (c *collector) managersOf(ctx context.Context, key engine.Key) ([]heldManager, error) {
	kind, _ := meta.UnsafeGuessKindToResource(key.GVK())
	object, err := c.cluster.names.Resource(kind).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, &LackError{Why: "it does not exist"}
	}
	if err != nil {
		return nil, lackOf(err, "get", kind.GroupResource(), key.Namespace, key.Name)
	}
	var held []heldManager
	for _, m := range object.ManagedFields {
		one := heldManager{Manager: m.Manager, Operation: string(m.Operation), Subresource: m.Subresource, APIVersion: m.APIVersion, At: m.Time, Fields: []string{}}
		var tree map[string]any
		if m.FieldsV1 != nil && json.Unmarshal(m.FieldsV1.GetRawBytes(), &tree) == nil {
			one.Fields = fieldsOf(tree, "", nil)
			slices.Sort(one.Fields)
			one.Fields = slices.Compact(one.Fields)
			one.Fields = one.Fields[:min(len(one.Fields), maxFields)]
		}
		held = append(held, one)
	}
	return held, nil
}

// fieldsOf are the paths of the leaves of managed fields. What elements of lists are known by is content, and left out.
func fieldsOf(tree map[string]any, path string, into []string) []string {
	leaf := true
	for key, below := range tree {
		if key == "." {
			continue
		}
		step := "[]"
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			step = "." + name
		}
		leaf = false
		inner, _ := below.(map[string]any)
		into = fieldsOf(inner, path+step, into)
	}
	if leaf && path != "" {
		into = append(into, path)
	}
	return into
}
