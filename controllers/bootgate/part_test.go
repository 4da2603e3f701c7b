package bootgate

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/phases/bootboard"
	phases "github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

var ops = options.Options{OperatorNamespace: "ops", CAPINamespace: "capi"}

// reads is a cluster that knows these kinds and no others.
func reads(t *testing.T, kinds house.Kinds) client.Client {
	t.Helper()
	mapper, err := kinds.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(kinds.Scheme()).WithRESTMapper(mapper).Build()
}

func TestPart_a_look_reads_and_watches_no_kind_that_is_not_among_its_kinds(t *testing.T) {
	p := phases.New(phases.Options{
		Client: reads(t, kinds(ops)), Apart: reads(t, apart(ops)), Known: reads(t, known(ops)), Board: bootboard.New(), Now: (&house.House{Clock: clock}).Now,
		OperatorNamespace: "ops", CAPINamespace: "capi", MachineAPI: true, ClusterAPI: true,
	})
	if f, _, err := p.Observe(t.Context(), key); err != nil || !f.Config.Absent || !f.Golden.Absent {
		t.Errorf("it sees %+v, %v", f, err)
	}
	for _, w := range watches(nil, nil, func() {}) {
		if _, err := apiutil.GVKForObject(w.Kind, house.Kinds(kinds(ops)).Scheme()); err != nil && w.In == nil && w.Kind.GetObjectKind().GroupVersionKind().Empty() {
			if _, is := w.Kind.(*corev1.ConfigMap); !is {
				t.Errorf("it watches %T: %v", w.Kind, err)
			}
		}
	}
}

func TestWatches_a_wave_of_clones_is_gathered(t *testing.T) {
	gathered := 0
	for _, w := range watches(nil, nil, func() { gathered++ }) {
		_, metadata := w.Kind.(*metav1.PartialObjectMetadata)
		before := gathered
		asked := w.Asks(w.Kind)
		if metadata == (len(asked) > 0) || metadata == (gathered == before) {
			t.Errorf("an event of %T asks for %v, gathered %d times", w.Kind, asked, gathered-before)
		}
	}
	if gathered == 0 {
		t.Error("nothing is gathered")
	}
}

func TestPart_runs_where_boot_images_are_moved(t *testing.T) {
	for _, row := range []options.BootImages{{}, {MachineAPI: true}, {ClusterAPI: true}} {
		if runs := Part.RunsBy(options.Options{BootImages: row}); runs != row.Any() {
			t.Errorf("%+v: it runs: %v", row, runs)
		}
	}
}

func TestApart_watches_the_ConfigMaps_by_name(t *testing.T) {
	for _, kinds := range []house.Kinds{apart(ops), known(ops)} {
		for object, by := range kinds.Cache(nil).ByObject {
			if _, is := object.(*corev1.ConfigMap); !is {
				continue
			}
			for namespace, config := range by.Namespaces {
				if config.FieldSelector.Empty() {
					t.Errorf("all ConfigMaps of %s are watched", namespace)
				}
			}
		}
	}
}

func TestKinds_keep_no_more_than_is_asked_for(t *testing.T) {
	version := &configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: "x"}}
	version.Status = configv1.ClusterVersionStatus{History: []configv1.UpdateHistory{{Version: "4.22.1"}}, VersionHash: "x", Desired: configv1.Release{Architecture: "Multi", Image: "x"}}
	releaseOnly(version)
	if version.Spec.ClusterID != "" || version.Status.VersionHash != "" || version.Status.Desired.Image != "" || version.Status.Desired.Architecture != "Multi" || len(version.Status.History) != 1 {
		t.Errorf("kept is %+v", version)
	}
	node := nodeOf("amd64")
	node.Status.Images, node.Spec.PodCIDR = []corev1.ContainerImage{{}}, "x"
	architectureOnly(node)
	if phases.ControlPlaneArchitecture(node) != "amd64" || node.Status.Images != nil || node.Spec.PodCIDR != "" {
		t.Errorf("kept is %+v", node)
	}
	template := phases.Metadata(phases.Providers[0].Template)
	template.SetLabels(map[string]string{"a": "b", golden.CloneOfLabel: "set"})
	if clonesOnly(template); len(template.GetLabels()) != 1 || template.GetLabels()[golden.CloneOfLabel] != "set" {
		t.Errorf("kept is %+v", template)
	}
	made := phases.Metadata(phases.Providers[0].Machine)
	made.SetAnnotations(map[string]string{"a": "b", phases.ClonedFrom: "template"})
	if originOnly(made); len(made.GetAnnotations()) != 1 || made.GetAnnotations()[phases.ClonedFrom] != "template" {
		t.Errorf("kept is %+v", made)
	}
}

func nodeOf(architecture string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	node.Status.NodeInfo.Architecture = architecture
	return node
}

func TestWatches_a_Node_matters_when_its_architecture_is_another(t *testing.T) {
	lets := otherwise(architecture)
	worker := nodeOf("amd64")
	worker.Labels = nil
	for name, row := range map[string]struct {
		before, now *corev1.Node
		want        bool
	}{
		"nothing":              {nodeOf("amd64"), nodeOf("amd64"), false},
		"another architecture": {nodeOf("amd64"), nodeOf("arm64"), true},
		"a worker no more":     {worker, nodeOf("amd64"), true},
	} {
		if got := lets.Update(event.UpdateEvent{ObjectOld: row.before, ObjectNew: row.now}); got != row.want {
			t.Errorf("%s is let through: %v", name, got)
		}
	}
}

func TestMeasure_a_place_that_is_empty_now_is_told_with_0(t *testing.T) {
	board := bootboard.New()
	p := phases.New(phases.Options{
		Client: reads(t, kinds(ops)), Apart: reads(t, apart(ops)), Known: reads(t, known(ops)), Board: board, Now: (&house.House{Clock: clock}).Now,
	})
	look := observe(p)
	board.Stand("a", bootboard.Standing{Kind: golden.MachineSets, Name: "a", State: "Deciding"})
	for _, row := range []struct{ state, other string }{{"Deciding", "Current"}, {"Current", "Deciding"}} {
		if _, _, err := look(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if is, was := gauge(t, "MachineAPI", "MachineSet", row.state), gauge(t, "MachineAPI", "MachineSet", row.other); is != 1 || was != 0 {
			t.Errorf("%s is counted %v times, and %s %v times", row.state, is, row.other, was)
		}
		board.Stand("a", bootboard.Standing{Kind: golden.MachineSets, Name: "a", State: "Current"})
	}
}
