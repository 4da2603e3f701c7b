package joint

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

func TestHeard_of_a_guest_that_is_not_known_to_be_ours_is_nothing(t *testing.T) {
	for name, ours := range map[string]bool{"ours": true, "by somebody else's kubeconfig": false} {
		w := installed(t, &ledger{})
		w.do(guards.Installed, phases.KeepInstalled)
		if !ours {
			edit(w, &corev1.Secret{}, "c-kubeconfig", func(s *corev1.Secret) { s.OwnerReferences = nil })
		}
		w.asks()
		facts, works, err := w.phases.Observe(t.Context(), "fleet/a")
		must(t, err)
		pass, is := works.(*Pass)
		if !is {
			t.Fatalf("the works are %T", works)
		}
		if _, known := pass.guest.Nodes(); !known || !facts.Guest.Known {
			t.Fatalf("%s: the guest is %+v", name, facts.Guest)
		}
		if got := heard(pass.guest).Known; got != ours {
			t.Errorf("%s: Machines hear of it: %t", name, got)
		}
	}
}
