package machines

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

func TestSee_tells_what_the_configs_of_machines_wait_for_that_are_not_provisioned(t *testing.T) {
	w := newWorld(t, append(frame(), asked(1))...)
	w.must((*Seen).CreateMachines)
	config := func(name string) *v1alpha1.OpenShiftConfig {
		c := &v1alpha1.OpenShiftConfig{}
		w.get(c, name)
		return c
	}
	for _, name := range []string{"a-0", "a-bootstrap"} {
		change(w, config(name), func(c *v1alpha1.OpenShiftConfig) {
			c.Status.State, c.Status.Waits = "AwaitingPayload", "upload it\n"+strings.Repeat("x", 400)
		})
	}
	_, facts := w.see()
	if got := guards.MachinesAreProvisioned.Answer(*facts).Reason; !strings.Contains(got, "not provisioned yet (OpenShiftConfig a-bootstrap, AwaitingPayload: upload it x") || !strings.HasSuffix(got, "...)") {
		t.Errorf("of the bootstrap it says %q", got)
	}
	if got := facts.Provisioned.Missing; len(got) != 1 || !strings.HasPrefix(got[0], "Machine a-0 (OpenShiftConfig a-0, AwaitingPayload: upload it x") {
		t.Errorf("of masters it says %q", got)
	}
	change(w, config("a-0"), func(c *v1alpha1.OpenShiftConfig) {
		c.Status.State, c.Status.Waits = "Pending", "reading Secret a-ignition-master: forbidden"
	})
	if _, facts = w.see(); facts.Provisioned.Missing[0] != "Machine a-0" {
		t.Errorf("of one without a Machine it says %q", facts.Provisioned.Missing)
	}
	change(w, config("a-0"), func(c *v1alpha1.OpenShiftConfig) {
		c.OwnerReferences = append(c.OwnerReferences, metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "a-0", UID: "m", Controller: new(true)})
	})
	if _, facts = w.see(); facts.Provisioned.Missing[0] != "Machine a-0 (OpenShiftConfig a-0, Pending: reading Secret a-ignition-master: forbidden)" {
		t.Errorf("of one that cannot be made it says %q", facts.Provisioned.Missing)
	}
	change(w, config("a-0"), func(c *v1alpha1.OpenShiftConfig) {
		c.Status.Initialization.DataSecretCreated = one(true)
	})
	if _, facts = w.see(); facts.Provisioned.Missing[0] != "Machine a-0" {
		t.Errorf("once its config is ready it says %q", facts.Provisioned.Missing)
	}
}
