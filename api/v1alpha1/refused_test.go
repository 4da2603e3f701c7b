package v1alpha1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

var digest = "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("0a", 32)

// asked is an OpenShiftControlPlane with what has to be there, and nothing else.
func asked() *v1alpha1.OpenShiftControlPlane {
	plane := &v1alpha1.OpenShiftControlPlane{}
	plane.APIVersion, plane.Kind, plane.Namespace, plane.Name = v1alpha1.GroupVersion.String(), v1alpha1.ControlPlaneKind, "fleet", "a"
	plane.Spec.ReleaseImage = digest
	plane.Spec.InstallStateSecretRef.Name = "a-install-state"
	plane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "DevMachineTemplate", Name: "a",
	}
	return plane
}

func set(t *testing.T, object map[string]any, path string, value any) {
	t.Helper()
	if err := unstructured.SetNestedField(object, value, strings.Split(path, ".")...); err != nil {
		t.Fatal(err)
	}
}

func TestControlPlane_gets_its_defaults(t *testing.T) {
	got, problems := serve(t, "openshiftcontrolplanes").accepts(t, written(t, asked()), nil)
	if len(problems) > 0 {
		t.Fatal(problems.ToAggregate())
	}
	for path, want := range map[string]any{
		"spec.replicas": int64(3), "spec.management": "Handover", "spec.releaseImagePolicy": "Digest",
		"spec.bootstrapMachine.deletePolicy": "OnComplete", "spec.ignition.engine": "Builtin", "spec.ignition.delivery": "Secret",
	} {
		if value, _, _ := unstructured.NestedFieldNoCopy(got, strings.Split(path, ".")...); value != want {
			t.Errorf("%s is %v, want %v", path, value, want)
		}
	}
}

func TestControlPlane_what_is_refused_of_a_creation(t *testing.T) {
	api := serve(t, "openshiftcontrolplanes")
	for name, row := range map[string]struct {
		path  string
		value any
		says  string // empty: it is accepted
	}{
		"a selector that chooses everything":       {"spec.manifestsSelector", map[string]any{}, "empty selector"},
		"a selector without labels":                {"spec.manifestsSelector", map[string]any{"matchLabels": map[string]any{}}, "empty selector"},
		"a selector by a label is accepted":        {"spec.manifestsSelector", map[string]any{"matchLabels": map[string]any{"a": "b"}}, ""},
		"two replicas":                             {"spec.replicas", int64(2), "supported values"},
		"no replicas":                              {"spec.replicas", int64(0), "supported values"},
		"seven replicas":                           {"spec.replicas", int64(7), "supported values"},
		"five replicas are accepted":               {"spec.replicas", int64(5), ""},
		"a tag without the policy":                 {"spec.releaseImage", "quay.io/openshift/release:4.22", "needs a digest"},
		"a digest that is none":                    {"spec.releaseImage", "quay.io/openshift/release@sha256:0a", "needs a digest"},
		"a template whose kind is none":            {"spec.machineTemplate.spec.infrastructureRef.kind", "DevMachine", "has to end in Template"},
		"the bootstrap's own, whose kind is none":  {"spec.bootstrapMachine", map[string]any{"infrastructureRef": map[string]any{"apiGroup": "a.b", "kind": "M", "name": "a"}}, "has to end in Template"},
		"the installer's Job without its image":    {"spec.ignition.engine", "InstallerJob", "needs an installerImage"},
		"an engine that nobody knows":              {"spec.ignition.engine", "Magic", "supported values"},
		"a policy that nobody knows":               {"spec.releaseImagePolicy", "Any", "supported values"},
		"a host that is a URL":                     {"spec.machineConfigServer", map[string]any{"host": "https://a/b"}, "should match"},
		"a hook of a phase that nobody knows":      {"spec.hooks", []any{map[string]any{"phase": "Never", "conditionType": "A"}}, "supported values"},
		"the same hook twice":                      {"spec.hooks", []any{hook("A"), hook("A")}, "Duplicate value"},
		"two hooks of a phase are accepted":        {"spec.hooks", []any{hook("A"), hook("B")}, ""},
		"a timeout of no time":                     {"spec.timeouts", map[string]any{"apiSeconds": int64(0)}, "greater than or equal to 1"},
		"a timeout of a minute is accepted":        {"spec.timeouts", map[string]any{"apiSeconds": int64(60)}, ""},
		"no release image":                         {"spec.releaseImage", "", "at least 1 chars"},
		"a template without a name":                {"spec.machineTemplate.spec.infrastructureRef.name", "", "at least 1 chars"},
		"a namespace of the template is taken out": {"spec.machineTemplate.spec.infrastructureRef.namespace", "other", ""},
	} {
		t.Run(name, func(t *testing.T) {
			plane := written(t, asked())
			set(t, plane, row.path, row.value)
			got, problems := api.accepts(t, plane, nil)
			checkProblems(t, problems.ToAggregate(), row.says)
			if _, found, _ := unstructured.NestedString(got, "spec", "machineTemplate", "spec", "infrastructureRef", "namespace"); found {
				t.Error("the template is in a namespace of its own")
			}
		})
	}
	plane := written(t, asked())
	set(t, plane, "spec.releaseImage", "quay.io/openshift/release:4.22")
	set(t, plane, "spec.releaseImagePolicy", "Tag")
	_, problems := api.accepts(t, plane, nil)
	checkProblems(t, problems.ToAggregate(), "")
}

func hook(condition string) map[string]any {
	return map[string]any{"phase": "PreBootstrapRemoval", "conditionType": condition}
}

func TestControlPlane_what_is_refused_of_a_change(t *testing.T) {
	api := serve(t, "openshiftcontrolplanes")
	frozen := map[string]any{"payload": map[string]any{"digest": "d", "engine": "Builtin"}, "state": "Bootstrapping"}
	installed := map[string]any{"payload": map[string]any{"digest": "d", "engine": "Builtin"}, "state": "Installed"}
	degraded := map[string]any{"payload": map[string]any{"digest": "d", "engine": "Builtin"}, "state": "Degraded"}
	managed := map[string]any{"spec.management": "Managed"}
	other := strings.ReplaceAll(digest, "0a", "0b")
	own := map[string]any{"apiGroup": "a.b", "kind": "MTemplate", "name": "a"}
	for name, row := range map[string]struct {
		status map[string]any
		before map[string]any
		change map[string]any
		says   string
	}{
		"the template":                      {nil, nil, map[string]any{"spec.machineTemplate.spec.infrastructureRef.name": "b"}, "infrastructureRef cannot be changed"},
		"a template of the bootstrap's own": {nil, nil, map[string]any{"spec.bootstrapMachine.infrastructureRef": own}, "cannot be added or taken away"},
		"no more template of the bootstrap's own": {
			nil, map[string]any{"spec.bootstrapMachine.infrastructureRef": own}, map[string]any{"spec.bootstrapMachine": map[string]any{"deletePolicy": "Retain"}}, "cannot be added or taken away",
		},
		"what becomes of the bootstrap machine":     {nil, nil, map[string]any{"spec.bootstrapMachine.deletePolicy": "Retain"}, ""},
		"replicas under Handover":                   {nil, nil, map[string]any{"spec.replicas": int64(5)}, "while management is Handover"},
		"replicas under Managed are accepted":       {installed, managed, map[string]any{"spec.replicas": int64(5)}, ""},
		"replicas under Managed, to an even number": {installed, managed, map[string]any{"spec.replicas": int64(4)}, "supported values"},
		"replicas on the way back to Handover":      {nil, managed, map[string]any{"spec.replicas": int64(5), "spec.management": "Handover"}, "while management is Handover"},
		"the release before anything was frozen":    {nil, nil, map[string]any{"spec.releaseImage": other}, ""},
		"the release once inputs are frozen":        {frozen, nil, map[string]any{"spec.releaseImage": other}, "until the inputs are frozen"},
		"the release of an installed cluster":       {installed, nil, map[string]any{"spec.releaseImage": other}, ""},
		"the release of a degraded cluster":         {degraded, nil, map[string]any{"spec.releaseImage": other}, ""},
		"something else once inputs are frozen":     {frozen, nil, map[string]any{"spec.management": "Managed"}, ""},
		"the template's metadata, in place":         {installed, nil, map[string]any{"spec.machineTemplate.metadata": map[string]any{"labels": map[string]any{"a": "b"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stored := written(t, asked())
			for path, value := range row.before {
				set(t, stored, path, value)
			}
			stored, problems := api.accepts(t, stored, nil)
			if len(problems) > 0 {
				t.Fatal(problems.ToAggregate())
			}
			if row.status != nil {
				stored["status"] = runtime.DeepCopyJSON(row.status)
			}
			now := runtime.DeepCopyJSON(stored)
			for path, value := range row.change {
				set(t, now, path, value)
			}
			_, problems = api.accepts(t, now, stored)
			checkProblems(t, problems.ToAggregate(), row.says)
		})
	}
}

func TestControlPlane_keeps_whatever_record_its_status_has(t *testing.T) {
	plane := written(t, asked())
	plane["status"] = object(t, "{state: Bootstrapping, machine: {state: Bootstrapping, lasting: {HealthLost: x}}, deadline: {at: '2026-01-01T00:00:00Z', to: Failed}}")
	got, problems := serve(t, "openshiftcontrolplanes").accepts(t, plane, nil)
	checkProblems(t, problems.ToAggregate(), "")
	if value, _, _ := unstructured.NestedString(got, "status", "machine", "lasting", "HealthLost"); value != "x" {
		t.Errorf("the record has become %v", got["status"])
	}
}

func TestConfigs_what_is_refused(t *testing.T) {
	config, template := serve(t, "openshiftconfigs"), serve(t, "openshiftconfigtemplates")
	for name, row := range map[string]struct{ spec, says string }{
		"a worker":                   {"{role: worker}", ""},
		"a worker with all there is": {"{role: worker, controlPlaneRef: {name: a}, overridesSecretRef: {name: b}}", ""},
		"no role":                    {"{}", "role: Required value"},
		"a role that nobody knows":   {"{role: infra}", "supported values"},
		"overrides without a name":   {"{role: worker, overridesSecretRef: {}}", "name: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			one := object(t, "{apiVersion: cluster.openshift.io/v1alpha1, kind: OpenShiftConfig, metadata: {name: a}, spec: "+row.spec+"}")
			_, problems := config.accepts(t, one, nil)
			checkProblems(t, problems.ToAggregate(), row.says)
			many := object(t, "{apiVersion: cluster.openshift.io/v1alpha1, kind: OpenShiftConfigTemplate, metadata: {name: a}, spec: {template: {spec: "+row.spec+"}}}")
			_, problems = template.accepts(t, many, nil)
			checkProblems(t, problems.ToAggregate(), row.says)
		})
	}
	before := object(t, "{apiVersion: cluster.openshift.io/v1alpha1, kind: OpenShiftConfigTemplate, metadata: {name: a}, spec: {template: {spec: {role: worker}}}}")
	after := object(t, "{apiVersion: cluster.openshift.io/v1alpha1, kind: OpenShiftConfigTemplate, metadata: {name: a}, spec: {template: {spec: {role: worker, overridesSecretRef: {name: b}}}}}")
	_, problems := template.accepts(t, after, before)
	checkProblems(t, problems.ToAggregate(), "")
}

func checkProblems(t *testing.T, problems error, says string) {
	t.Helper()
	switch {
	case says == "" && problems != nil:
		t.Errorf("refused: %v", problems)
	case says != "" && problems == nil:
		t.Errorf("accepted, want a refusal that says %q", says)
	case says != "" && !strings.Contains(strings.ToLower(problems.Error()), strings.ToLower(says)):
		t.Errorf("refused with %v, want %q", problems, says)
	}
}
