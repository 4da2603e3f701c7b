package admission_test

import (
	"strings"
	"testing"

	apiserver "k8s.io/apiserver/pkg/admission"

	"github.com/capstan-capi/capstan/phases/render/admission"
	"github.com/capstan-capi/capstan/phases/render/admission/admissiontest"
)

func TestWrites_lets_the_operator_move_boot_images_and_nothing_beside_them(t *testing.T) {
	const mapi, capi = "openshift-machine-api", "openshift-cluster-api"
	set := func(namespace, metadata, rest, value string) string {
		return "{apiVersion: machine.openshift.io/v1beta1, kind: MachineSet, metadata: {name: a, namespace: " + namespace + metadata + "}, spec: {selector: {}" + rest +
			", template: {metadata: {labels: {b: c}}, spec: {taints: [], providerSpec: {value: " + value + "}}}}}"
	}
	control := func(value string) string {
		return "{apiVersion: machine.openshift.io/v1, kind: ControlPlaneMachineSet, metadata: {name: cluster, namespace: " + mapi + "}, spec: {state: Active, template: {machineType: m, machines_v1beta1_machine_openshift_io: {metadata: {}, spec: {providerSpec: {value: " + value + "}}}}}}"
	}
	machines := func(kind, infrastructure, rest string) string {
		return "{apiVersion: cluster.x-k8s.io/v1beta2, kind: " + kind + ", metadata: {name: a, namespace: " + capi + "}, spec: {clusterName: c, template: {spec: {bootstrap: {}" + rest + ", infrastructureRef: " + infrastructure + "}}}}"
	}
	template := func(namespace, labels string) string {
		return "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, metadata: {name: a-1, namespace: " + namespace + ", labels: {" + labels + "}}, spec: {}}"
	}
	called := func(name, namespace, annotations, data string) string {
		return "{apiVersion: v1, kind: Secret, metadata: {name: " + name + ", namespace: " + namespace + ", annotations: {" + annotations + "}}, type: Opaque, data: {" + data + "}}"
	}
	secret := func(namespace, data string) string {
		return called("worker-user-data", namespace, "machineconfiguration.openshift.io/stub-ignition-upgraded-to: 3.1.0", data)
	}
	claims := func(labels, claimed, spec string) string {
		return "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: AWSMachineTemplate, metadata: {name: a-1, namespace: " + capi + ", labels: {" + labels + "}, annotations: {" + claimed + "}}, spec: {a: " + spec + "}}"
	}
	const claimed = "capi-operator.openshift.io/boot-image-claimed: now"
	const clone = "capi-operator.openshift.io/boot-image-clone-of: a"
	for name, row := range map[string]struct {
		operation apiserver.Operation
		now, old  string
		refused   bool
	}{
		"the AMI of a set":                     {apiserver.Update, set(mapi, "", "", "{ami: {id: b}, region: r}"), set(mapi, "", "", "{ami: {id: a}, region: r}"), false},
		"the disks of a set":                   {apiserver.Update, set(mapi, "", "", "{disks: [{boot: true, image: b}]}"), set(mapi, "", "", "{disks: [{boot: true, image: a}]}"), false},
		"its annotations beside":               {apiserver.Update, set(mapi, ", annotations: {a: b}", "", "{ami: {id: b}}"), set(mapi, "", "", "{ami: {id: a}}"), true},
		"a mark that makes it the operator's":  {apiserver.Update, set(mapi, ", annotations: {capi-operator.openshift.io/owner: x}", "", "{ami: {id: b}}"), set(mapi, "", "", "{ami: {id: a}}"), true},
		"an annotation that it takes away":     {apiserver.Update, set(mapi, "", "", "{ami: {id: b}}"), set(mapi, ", annotations: {a: b}", "", "{ami: {id: a}}"), true},
		"a set with annotations":               {apiserver.Update, set(mapi, ", annotations: {a: b}", "", "{ami: {id: b}}"), set(mapi, ", annotations: {a: b}", "", "{ami: {id: a}}"), false},
		"a proof that makes it the operator's": {apiserver.Update, set(mapi, ", managedFields: [{manager: capstan, operation: Apply}]", "", "{ami: {id: b}}"), set(mapi, "", "", "{ami: {id: a}}"), true},
		"the instance profile of a set":        {apiserver.Update, set(mapi, "", "", "{ami: {id: b}, iamInstanceProfile: {id: root}}"), set(mapi, "", "", "{ami: {id: a}, iamInstanceProfile: {id: worker}}"), true},
		"a field that it takes away":           {apiserver.Update, set(mapi, "", "", "{ami: {id: b}}"), set(mapi, "", "", "{ami: {id: a}, publicIp: false}"), true},
		"the replicas of a set":                {apiserver.Update, set(mapi, "", ", replicas: 9", "{ami: {id: b}}"), set(mapi, "", ", replicas: 1", "{ami: {id: a}}"), true},
		"the labels of a set":                  {apiserver.Update, set(mapi, ", labels: {a: b}", "", "{ami: {id: b}}"), set(mapi, "", "", "{ami: {id: a}}"), true},
		"a set of another namespace":           {apiserver.Update, set("default", "", "", "{ami: {id: b}}"), set("default", "", "", "{ami: {id: a}}"), true},
		"a new set":                            {apiserver.Create, set(mapi, "", "", "{ami: {id: b}}"), "", true},
		"a set taken away":                     {apiserver.Delete, "", set(mapi, "", "", "{ami: {id: b}}"), true},
		"the image of the control plane":       {apiserver.Update, control("{ami: {id: b}}"), control("{ami: {id: a}}"), false},
		"its security groups":                  {apiserver.Update, control("{ami: {id: b}, securityGroups: [a]}"), control("{ami: {id: a}, securityGroups: []}"), true},
		"the template that a set refers to":    {apiserver.Update, machines("MachineSet", "{kind: T, name: b}", ""), machines("MachineSet", "{kind: T, name: a}", ""), false},
		"that of a deployment":                 {apiserver.Update, machines("MachineDeployment", "{kind: T, name: b}", ""), machines("MachineDeployment", "{kind: T, name: a}", ""), false},
		"another kind of template":             {apiserver.Update, machines("MachineSet", "{kind: U, name: b}", ""), machines("MachineSet", "{kind: T, name: a}", ""), true},
		"another version of Kubernetes":        {apiserver.Update, machines("MachineSet", "{kind: T, name: b}", ", version: v2"), machines("MachineSet", "{kind: T, name: a}", ", version: v1"), true},
		"a clone":                              {apiserver.Create, template(capi, clone), "", false},
		"a clone, taken away":                  {apiserver.Delete, "", template(capi, clone), false},
		"a clone, claimed":                     {apiserver.Update, claims(clone, claimed, "b"), claims(clone, "", "b"), false},
		"a clone, changed":                     {apiserver.Update, claims(clone, claimed, "c"), claims(clone, "", "b"), true},
		"a user's template, claimed":           {apiserver.Update, claims("", claimed, "b"), claims("", "", "b"), true},
		"a user's template, made a clone":      {apiserver.Update, claims(clone, claimed, "b"), claims("", "", "b"), true},
		"a template that says it is none":      {apiserver.Create, template(capi, ""), "", true},
		"a user's template, taken away":        {apiserver.Delete, "", template(capi, ""), true},
		"a clone elsewhere":                    {apiserver.Create, template("default", clone), "", true},
		"a stub of Machine API":                {apiserver.Update, secret(mapi, "userData: Yg=="), secret(mapi, "userData: YQ=="), false},
		"a stub of Cluster API":                {apiserver.Update, secret(capi, "value: Yg=="), secret(capi, "value: YQ=="), false},
		"a stub that is marked so just now":    {apiserver.Update, secret(mapi, "userData: Yg=="), called("worker-user-data", mapi, "", "userData: YQ=="), false},
		"a Secret that is not marked so":       {apiserver.Update, called("worker-user-data", capi, "", "value: Yg=="), called("worker-user-data", capi, "", "value: YQ=="), true},
		"the kubeconfig of a Cluster":          {apiserver.Update, called("c-kubeconfig", capi, "machineconfiguration.openshift.io/stub-ignition-upgraded-to: 3.1.0", "value: Yg=="), called("c-kubeconfig", capi, "", "value: YQ=="), true},
		"another key of its Secret":            {apiserver.Update, secret(mapi, "token: Yg=="), secret(mapi, "token: YQ=="), true},
		"a Secret of another namespace":        {apiserver.Update, secret("kube-system", "userData: Yg=="), secret("kube-system", "userData: YQ=="), true},
		"a Secret taken away":                  {apiserver.Delete, "", secret(mapi, "userData: YQ=="), true},
		"what is known of attempts":            {apiserver.Create, "{apiVersion: v1, kind: ConfigMap, metadata: {name: capstan-bootimages-f, namespace: openshift-cluster-api-operator}}", "", false},
		"which images were golden":             {apiserver.Create, "{apiVersion: v1, kind: ConfigMap, metadata: {name: capstan-known-images, namespace: openshift-cluster-api-operator}}", "", false},
		"which images administrators trust":    {apiserver.Create, "{apiVersion: v1, kind: ConfigMap, metadata: {name: boot-images-trusted, namespace: openshift-cluster-api-operator}}", "", true},
		"what administrators have opted in":    {apiserver.Update, "{apiVersion: operator.openshift.io/v1, kind: MachineConfiguration, metadata: {name: cluster}}", "{apiVersion: operator.openshift.io/v1, kind: MachineConfiguration, metadata: {name: cluster}}", true},
		"what is golden, in its own release":   {apiserver.Update, "{apiVersion: v1, kind: ConfigMap, metadata: {name: coreos-bootimages, namespace: openshift-machine-config-operator}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: coreos-bootimages, namespace: openshift-machine-config-operator}}", true},
	} {
		t.Run(name, func(t *testing.T) {
			for _, answer := range asked(t, "capstan-writes", admissiontest.Request{Operation: row.operation, Object: object(t, row.now), Old: object(t, row.old)}) {
				if (answer.Refused != "") != row.refused || strings.HasPrefix(answer.Refused, "error") {
					t.Errorf("the answer is %q", answer.Refused)
				}
			}
		})
	}
}

// asked is what one of the policies answers.
func asked(t *testing.T, name string, request admissiontest.Request) []admissiontest.Answer {
	t.Helper()
	answers, err := shipped(t, name).Ask(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

// compiled are the policies that were asked before: to compile one takes as long as to ask it hundreds of times.
var compiled = map[string]*admissiontest.Policy{}

// shipped is one of the policies.
func shipped(t *testing.T, name string) *admissiontest.Policy {
	t.Helper()
	if policy := compiled[name]; policy != nil {
		return policy
	}
	for _, o := range admission.Shipped.Objects() {
		if o.GetKind() != "ValidatingAdmissionPolicy" || o.GetName() != name {
			continue
		}
		policy, err := admissiontest.New(o)
		if err != nil {
			t.Fatal(err)
		}
		compiled[name] = policy
		return policy
	}
	t.Fatalf("there is no policy %s", name)
	return nil
}
