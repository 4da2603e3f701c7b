package compatibility

import (
	"testing"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

var ops = options.Options{OperatorNamespace: "ops"}

func TestPart_a_pass_reads_and_watches_no_kind_that_is_not_among_its_kinds(t *testing.T) {
	known := house.Kinds(kinds(ops))
	mapper, err := known.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "one", UID: "u"}}
	cluster := fake.NewClientBuilder().WithScheme(known.Scheme()).WithRESTMapper(mapper).WithObjects(r).Build()
	p := &phases.Phases{Client: cluster, Live: cluster, Namespace: "ops", Now: time.Now}
	if f, _, err := p.Observe(t.Context(), "one"); err != nil || f.Spec.Problem == "" {
		t.Errorf("it sees %+v, %v", f, err)
	}
	for _, w := range watches(cluster, "ops") {
		if _, err := apiutil.GVKForObject(w.Kind, known.Scheme()); err != nil {
			t.Errorf("it watches %T: %v", w.Kind, err)
		}
	}
}

func TestKinds_keep_nothing_that_is_large(t *testing.T) {
	r := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: "large", "a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{}},
	}}
	r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = "large"
	withoutData(r)
	if r.Spec.CompatibilitySchema.CustomResourceDefinition.Data != "" || len(r.Annotations) != 1 || r.ManagedFields != nil {
		t.Errorf("kept is %+v", r)
	}
	meta := phases.CRDMetadata()
	meta.UID, meta.Generation, meta.Annotations = "u", 3, map[string]string{"a": "b"}
	slim(meta)
	if meta.UID != "u" || meta.Generation != 3 || meta.Annotations != nil {
		t.Errorf("kept is %+v", meta)
	}
}

func TestRequirements_an_event_asks_for_those_that_it_matters_to(t *testing.T) {
	one := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	one.Status.CRDName = "a.example.com"
	two := &requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metav1.ObjectMeta{Name: "two"}}
	two.Status.CRDName = "b.example.com"
	of := requirements{fake.NewClientBuilder().WithScheme(house.Kinds(kinds(ops)).Scheme()).WithObjects(one, two).Build()}
	named := func(name string) client.Object {
		meta := phases.CRDMetadata()
		meta.Name = name
		return meta
	}
	for name, row := range map[string]struct {
		got  []machine.Key
		want int
	}{
		"its definition":            {of.about(named("a.example.com")), 1},
		"another definition":        {of.about(named("c.example.com")), 0},
		"its configuration":         {of.configuredBy(named("two")), 1},
		"the shared configuration":  {of.configuredBy(named(phases.CRDsConfiguration)), 2},
		"somebody's configuration":  {of.configuredBy(named("others")), 0},
		"a replica of the checkers": {of.all(named("slice")), 2},
	} {
		if len(row.got) != row.want {
			t.Errorf("%s asks for %v", name, row.got)
		}
	}
}
