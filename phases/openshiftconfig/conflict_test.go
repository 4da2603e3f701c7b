package openshiftconfig

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftconfig"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/standing"
)

// theirs is a Secret of the name of the data Secret, which somebody else controls, or nobody.
func theirs(owners ...metav1.OwnerReference) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "s1", OwnerReferences: owners}, Data: map[string][]byte{"value": []byte(pointer)},
	}
}

func TestPublishData_never_overwrites_what_is_somebody_elses(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer), theirs())
	p := w.look()
	_, err := p.PublishData(t.Context())
	conflict, is := errors.AsType[*standing.ConflictError](err)
	if !is || !machine.IsTerminal(err) || p.Facts().Secret.Right {
		t.Fatalf("it ended with %v, and was seen as %+v", err, p.Facts().Secret)
	}
	if conflict.Key != "fleet/a-0" || !strings.Contains(err.Error(), "does not belong to OpenShiftConfig a-0") {
		t.Errorf("it says %v", err)
	}
	if got := w.stored(); len(got.OwnerReferences) != 0 || len(got.Data) != 1 {
		t.Errorf("it was written: %+v", got)
	}
}

func TestPublishData_waits_for_the_Secret_of_a_former_config_of_the_name(t *testing.T) {
	yes := true
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer), theirs(metav1.OwnerReference{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "OpenShiftConfig", Name: "a-0", UID: "k0", Controller: &yes,
	}))
	if _, err := w.look().PublishData(t.Context()); err == nil || machine.IsTerminal(err) || !strings.Contains(err.Error(), "former OpenShiftConfig") {
		t.Errorf("it ended with %v", err)
	}
}

func TestSecret_that_was_in_the_way_and_is_gone_is_a_change_that_heals(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer), theirs())
	was := w.look().Facts()
	if err := w.client.Delete(t.Context(), theirs()); err != nil {
		t.Fatal(err)
	}
	now := w.look().Facts()
	if now.Then.Inputs = guards.Fingerprint(was); guards.InputChanged.Answer(now).Truth != machine.Yes {
		t.Errorf("it was %q, and is %q", guards.Fingerprint(was), guards.Fingerprint(now))
	}
}
