package bootimage

import (
	"slices"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/bootimage"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

const (
	controlPlane = `{apiVersion: machine.openshift.io/v1, kind: ControlPlaneMachineSet, metadata: {name: cluster, namespace: openshift-machine-api, uid: of-cluster},
		spec: {state: Active, strategy: {type: OnDelete}, template: {machineType: machines_v1beta1_machine_openshift_io, machines_v1beta1_machine_openshift_io:
		{metadata: {labels: {}}, spec: {providerSpec: {value: {ami: {id: ami-old}, userDataSecret: {name: user-data}}}}}}}}`
	// ofShop belongs to its own Cluster.
	ofShop = `{metadata: {ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: shop, uid: of-shop}]}}`
)

func TestObserve_what_others_have_to_do_with_a_target(t *testing.T) {
	set, capiSet, deployment := onAWS("a", "ami-old"), ofCAPI("MachineSet", "a", "first"), ofCAPI("MachineDeployment", "a", "first")
	for name, row := range map[string]struct {
		object  string
		kind    golden.Kind
		of      string // the object that is changed, if that is another
		change  string
		want    guards.Exclusion
		counted bool
	}{
		"nothing":                    {object: set, kind: golden.MachineSets},
		"nothing, of Cluster API":    {object: capiSet, kind: golden.CAPIMachineSets},
		"nothing, of the control":    {object: controlPlane, kind: golden.ControlPlaneMachineSets},
		"it is its own Cluster's":    {object: capiSet, kind: golden.CAPIMachineSets, change: ofShop},
		"it is another Cluster's":    {object: capiSet, kind: golden.CAPIMachineSets, change: strings.ReplaceAll(ofShop, "shop", "mall"), want: guards.Owned, counted: true},
		"it is a deployment's":       {object: capiSet, kind: golden.CAPIMachineSets, change: strings.Replace(ofShop, "kind: Cluster, name: shop", "kind: MachineDeployment, name: d", 1), want: guards.Owned},
		"it is owned":                {object: set, kind: golden.MachineSets, change: `{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: o, uid: o}]}}`, want: guards.Owned, counted: true},
		"a topology makes it":        {object: deployment, kind: golden.MachineDeployments, change: `{metadata: {labels: {topology.cluster.x-k8s.io/owned: ""}}}`, want: guards.TopologyOwned, counted: true},
		"it is paused by annotation": {object: capiSet, kind: golden.CAPIMachineSets, change: `{metadata: {annotations: {cluster.x-k8s.io/paused: ""}}}`, want: guards.Paused, counted: true},
		"it is paused by its spec":   {object: deployment, kind: golden.MachineDeployments, change: `{spec: {paused: true}}`, want: guards.Paused, counted: true},
		"its Cluster is paused":      {object: capiSet, kind: golden.CAPIMachineSets, of: shop, change: `{spec: {paused: true}}`, want: guards.Paused, counted: true},
		"its Cluster is annotated":   {object: deployment, kind: golden.MachineDeployments, of: shop, change: `{metadata: {annotations: {cluster.x-k8s.io/paused: ""}}}`, want: guards.Paused, counted: true},
		"the Cluster is not paused":  {object: capiSet, kind: golden.CAPIMachineSets, of: shop, change: `{spec: {paused: false}}`},
		"it is not Active":           {object: controlPlane, kind: golden.ControlPlaneMachineSets, change: `{spec: {state: Inactive}}`, want: guards.Inactive},
		"its machines have Windows":  {object: set, kind: golden.MachineSets, change: `{spec: {template: {metadata: {labels: {machine.openshift.io/os-id: Windows}}}}}`, want: guards.Windows},
		"those of Cluster API have":  {object: capiSet, kind: golden.CAPIMachineSets, change: `{spec: {template: {metadata: {labels: {machine.openshift.io/os-id: Windows}}}}}`, want: guards.Windows},
		"another stream":             {object: set, kind: golden.MachineSets, change: `{metadata: {labels: {machineconfiguration.openshift.io/osstream: rhel-10}}}`, want: guards.OtherStream},
		"the stream of the images":   {object: set, kind: golden.MachineSets, change: `{metadata: {labels: {machineconfiguration.openshift.io/osstream: rhel-9}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, configv1.AWSPlatformType, shop, templateOn("first", "ami-old", "small"), row.object, secretIn(capi, newStub), secretIn(MachineAPINamespace, newStub))
			if row.change != "" {
				of := row.object
				if row.of != "" {
					of = row.of
				}
				c.edits(of, row.change)
			}
			_, name := kindOf(KeyOf(row.kind, "a"))
			if row.kind == golden.ControlPlaneMachineSets {
				name = "cluster"
			}
			_, f := c.sees(KeyOf(row.kind, name))
			if why, text, counted := guards.Excluded(f); why != row.want || counted != row.counted {
				t.Errorf("it is %q (%s), counted %v", why, text, counted)
			}
			if touchable := guards.Touchable.Answer(f).Truth == machine.Yes; touchable != (row.want == "") {
				t.Errorf("touchable is %v", touchable)
			}
		})
	}
}

func TestObserve_a_target_that_is_being_deleted_is_going_away(t *testing.T) {
	for key, object := range map[machine.Key]string{setA: onAWS("a", "ami-old"), capiA: ofCAPI("MachineSet", "a", "first")} {
		c := newCluster(t, configv1.AWSPlatformType, shop, object)
		c.edits(object, `{metadata: {finalizers: [a/b]}}`)
		if err := c.server.Delete(t.Context(), c.parsed(object)); err != nil {
			t.Fatal(err)
		}
		_, f := c.sees(key)
		if why, _, _ := guards.Excluded(f); why != guards.GoingAway {
			t.Errorf("%s is %q", key, why)
		}
	}
}

// Of twins the one that has the authority is a target, and while that changes neither is.
func TestObserve_of_twins_the_authoritative_one_is_a_target(t *testing.T) {
	for name, row := range map[string]struct {
		status, spec string
		mapi, capi   bool
	}{
		"nobody has said":                     {"", "", true, false},
		"it is to be Machine API":             {"", "MachineAPI", true, false},
		"it is to be Cluster API, and is not": {"", "ClusterAPI", false, false},
		"it is Machine API":                   {"MachineAPI", "MachineAPI", true, false},
		"it is still Machine API":             {"MachineAPI", "ClusterAPI", true, false},
		"it changes":                          {"Migrating", "ClusterAPI", false, false},
		"it is Cluster API":                   {"ClusterAPI", "ClusterAPI", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			set := onAWS("a", "ami-old")
			c := newCluster(t, configv1.AWSPlatformType, shop, set, ofCAPI("MachineSet", "a", "first"), templateOn("first", "ami-old", "small"))
			c.edits(set, `{spec: {authoritativeAPI: "`+row.spec+`"}, status: {authoritativeAPI: "`+row.status+`"}}`)
			for key, want := range map[machine.Key]bool{setA: row.mapi, capiA: row.capi} {
				_, f := c.sees(key)
				if why, text, _ := guards.Excluded(f); (why == "") != want || !want && why != guards.NotAuthoritative {
					t.Errorf("%s is %q: %s", key, why, text)
				}
			}
		})
	}
}

func TestObserve_what_is_of_another_Cluster_is_no_target(t *testing.T) {
	for name, row := range map[string]struct {
		cluster, this string
		enrolled      machine.Truth
	}{
		"this one":                   {"shop", "shop", machine.Yes},
		"another one":                {"mall", "shop", machine.No},
		"nobody knows which this is": {"shop", "", machine.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			object := ofCAPI("MachineSet", "a", "first")
			c := newCluster(t, configv1.AWSPlatformType, object, templateOn("first", "ami-old", "small"), secretIn(capi, newStub))
			c.edits(object, `{spec: {clusterName: `+row.cluster+`}}`)
			c.posts(func(v *bootboard.Verdict) { v.Cluster.InfrastructureName = row.this })
			_, f := c.sees(capiA)
			if is := guards.Enrolled.Answer(f); is.Truth != row.enrolled || row.enrolled == machine.No && !strings.Contains(is.Reason, "mall") {
				t.Errorf("that it is enrolled is %s: %s", is.Truth, is.Reason)
			}
		})
	}
}

func TestKeys_are_of_no_other_namespace(t *testing.T) {
	c := newCluster(t, configv1.AWSPlatformType, onAWS("a", "ami-old"), ofCAPI("MachineSet", "a", "first"), controlPlane,
		strings.Replace(onAWS("b", "ami-old"), MachineAPINamespace, "elsewhere", 1), strings.Replace(ofCAPI("MachineSet", "b", "first"), capi, "elsewhere", 1),
		strings.Replace(controlPlane, "name: cluster", "name: other", 1))
	keys, err := c.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	keys = slices.DeleteFunc(keys, func(key machine.Key) bool {
		is, err := c.Exists(t.Context(), key)
		return err == nil && !is
	})
	slices.Sort(keys)
	if want := []machine.Key{KeyOf(golden.ControlPlaneMachineSets, "cluster"), capiA, setA}; !slices.Equal(keys, want) {
		t.Errorf("they are %q", keys)
	}
	if err := c.server.Get(t.Context(), client.ObjectKey{Namespace: "elsewhere", Name: "b"}, c.parsed(onAWS("b", "x"))); err != nil {
		t.Error(err)
	}
}
