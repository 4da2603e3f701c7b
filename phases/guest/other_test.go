package guest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

const own, others = "11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"

// identified is a guest of ours whose kubeconfig somebody else has made, and that says which cluster it is, empty for not at all.
func identified(t *testing.T, id string) *world {
	t.Helper()
	w := connected(t)
	s := w.kubeconfig()
	s.OwnerReferences = nil
	must(t, w.plane.Update(t.Context(), s))
	if id != "" {
		w.guest.set(releasePath, is(configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: configv1.ClusterID(id)}}))
	}
	w.guest.set(bootstrapPath, is(corev1.ConfigMap{Data: map[string]string{"status": "complete"}}))
	return w
}

// making has a payload that makes a cluster of an ID.
func making(id string) func(*guards.Facts) {
	return func(f *guards.Facts) {
		f.Payload = guards.Payload{Roles: guards.Tally{Known: true}, ClusterID: id}
	}
}

func TestGuest_of_somebody_elses_kubeconfig_counts_once_it_is_the_cluster_that_was_made(t *testing.T) {
	for name, of := range map[string]struct {
		guest   string
		payload func(*guards.Facts)
		counts  bool
		says    string
	}{
		"the one that was made":                                {own, making(own), true, ""},
		"another one":                                          {others, making(own), false, "it is another cluster: its ID is"},
		"one that does not say":                                {"", making(own), false, "it does not say yet which cluster it is"},
		"a payload that does not say":                          {others, making(""), false, "note its ID in annotation capstan.openshift.io/payload-cluster-id"},
		"a payload that cannot be read":                        {own, func(*guards.Facts) {}, false, "it is not known which cluster was made here"},
		"a payload that cannot be read, once all is installed": {own, finished, false, "it is not known which cluster was made here"},
	} {
		w := identified(t, of.guest)
		facts := w.ask(of.payload)
		if facts.Guest.API != of.counts || facts.Guest.Known != of.counts || facts.Guest.Complete != of.counts || !strings.Contains(facts.Guest.APIProblem, of.says) {
			t.Errorf("%s: %+v", name, facts.Guest)
		}
		if facts.Guest.Silent {
			t.Errorf("%s: it is silent at once", name)
		}
	}
}

func TestGuest_that_is_another_cluster_is_told_of_as_the_fault_of_its_kubeconfig(t *testing.T) {
	w := identified(t, others)
	facts := w.ask(making(own))
	answer := guards.KubeconfigStands.Answer(facts)
	if answer.Truth != machine.No || !strings.Contains(answer.Reason, others) || !strings.Contains(answer.Reason, "put the kubeconfig of this one there") {
		t.Errorf("it is %s: %s", answer.Truth, answer.Reason)
	}
	if answer := guards.BootstrapIsComplete.Answer(facts); answer.Truth != machine.Unknown {
		t.Errorf("by its word the bootstrap is complete: %s", answer.Truth)
	}
	w.clock.Step(silence)
	if facts = w.ask(making(own)); !facts.Guest.Silent {
		t.Error("it is never called silent")
	}
}

func TestGuest_whose_payload_tells_its_ID_only_now_is_not_believed_by_what_it_said_before(t *testing.T) {
	w := identified(t, others)
	if facts := w.ask(making(""), finished); !facts.Guest.Known {
		t.Fatalf("it is %+v", facts.Guest)
	}
	if _, facts := w.see(making(own)); facts.Guest.API || facts.Guest.Known {
		t.Errorf("it is %+v", facts.Guest)
	}
	if _, facts := w.see(func(*guards.Facts) {}); facts.Guest.API {
		t.Errorf("once the payload cannot be read it is %+v", facts.Guest)
	}
}

func TestGuest_of_our_own_kubeconfig_may_call_itself_what_it_likes(t *testing.T) {
	w := connected(t)
	w.guest.set(releasePath, is(configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: others}}))
	if facts := w.ask(making(own)); !facts.Guest.API || !facts.Guest.Known {
		t.Errorf("it is %+v", facts.Guest)
	}
}

func TestGuest_whose_kubeconfig_was_replaced_counts_only_once_it_was_asked_by_that_one(t *testing.T) {
	w := connected(t)
	w.guest.set(releasePath, is(configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: own}}))
	if facts := w.ask(making(own)); !facts.Guest.Known {
		t.Fatalf("it is %+v", facts.Guest)
	}
	s := w.kubeconfig()
	s.Labels["noted"] = "by somebody"
	must(t, w.plane.Update(t.Context(), s))
	<-w.guests[key].wake // which cluster was made was news
	if seen, facts := w.see(making(own)); !facts.Guest.Known || len(seen.guest.wake) > 0 {
		t.Errorf("once its Secret has another label, it is %+v", facts.Guest)
	}
	config, err := clientcmd.Load(s.Data[secret.KubeconfigDataName])
	must(t, err)
	for _, one := range config.Clusters {
		one.Server = newCluster(t).URL
	}
	elsewhere, err := clientcmd.Write(*config)
	must(t, err)
	for _, data := range []map[string][]byte{{secret.KubeconfigDataName: elsewhere}, nil} {
		s.Data = data
		must(t, w.plane.Update(t.Context(), s))
		seen, facts := w.see(making(own))
		if facts.Guest.API || facts.Guest.Known || !facts.Guest.Unasked {
			t.Errorf("by what was seen before it is %+v", facts.Guest)
		}
		select {
		case <-seen.guest.wake:
		default:
			t.Error("it is not asked at once")
		}
	}
}

// blind is a guest of ours by whose kubeconfig anybody would do: who may write the Secret has left whose it is, and has changed what it says.
func blind(t *testing.T, id string) *world {
	t.Helper()
	w := connected(t)
	s := w.kubeconfig()
	config, err := clientcmd.Load(s.Data[secret.KubeconfigDataName])
	must(t, err)
	for _, one := range config.Clusters {
		one.InsecureSkipTLSVerify, one.CertificateAuthorityData = true, nil
	}
	s.Data[secret.KubeconfigDataName], err = clientcmd.Write(*config)
	must(t, err)
	must(t, w.plane.Update(t.Context(), s))
	if id != "" {
		w.guest.set(releasePath, is(configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: configv1.ClusterID(id)}}))
	}
	return w
}

func TestGuest_of_our_own_kubeconfig_that_somebody_has_altered_counts_by_its_ID_only(t *testing.T) {
	for name, of := range map[string]struct {
		guest      string
		over, key  bool
		unread, no bool // the release cannot be read; the payload has no ID
		job        bool // the installer's Job makes the payload
		counts     bool
	}{
		"one that may not be asked":                               {guest: own, key: true, unread: true},
		"one whose payload does not say":                          {guest: others, key: true, no: true},
		"the one that was made":                                   {guest: own, key: true, counts: true},
		"another one":                                             {guest: others, key: true},
		"another one, once all is installed":                      {guest: others, key: true, over: true},
		"one that does not say":                                   {key: true},
		"one that does not say, once all is installed":            {key: true, over: true, counts: true},
		"one that does not say, of an authority that is not here": {},
		"another one, of an authority that is not here":           {guest: others},
		"one that does not say, of an installer's authority":      {job: true, counts: true},
		"another one, of an installer's authority":                {guest: others, job: true},
		"one that may not be asked, of an installer's authority":  {guest: own, job: true, unread: true},
	} {
		w := blind(t, of.guest)
		if of.job {
			plane := asked()
			must(t, w.plane.Get(t.Context(), key, plane))
			plane.Spec.Ignition.Engine = v1alpha1.InstallerJob
			must(t, w.plane.Update(t.Context(), plane))
		}
		if !of.key {
			must(t, w.plane.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "c-ca"}}))
		}
		if of.unread {
			w.guest.set(releasePath, status(http.StatusForbidden))
		}
		state := func(f *guards.Facts) {
			f.Marks.Finished = of.over
			if of.no {
				f.Payload.ClusterID = ""
			}
		}
		if facts := w.ask(making(own), state); facts.Guest.API != of.counts {
			t.Errorf("%s: %+v", name, facts.Guest)
		}
		w.read = nil
		if w.ask(making(own), state); len(w.read) > 0 {
			t.Errorf("%s: each look reads %v", name, w.read)
		}
	}
}

func TestGuest_that_is_known_by_its_ID_has_no_authority_read(t *testing.T) {
	for guest, read := range map[string]bool{own: false, "": true} {
		w := connected(t)
		w.guest.set(releasePath, is(configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: configv1.ClusterID(guest)}}))
		w.read = nil
		if facts := w.ask(finished, making(own)); !facts.Guest.API || slices.Contains(w.read, "get c-ca") != read {
			t.Errorf("of ID %q it is %+v, and these were read: %v", guest, facts.Guest, w.read)
		}
	}
}

func TestKeepKubeconfig_that_leads_to_another_cluster_is_made_anew_once(t *testing.T) {
	w := blind(t, others)
	w.ask(making(own))
	seen, _ := w.see(making(own))
	if did, err := seen.KeepKubeconfig(t.Context()); did != "stored Secret c-kubeconfig" || err != nil {
		t.Fatalf("it did %q (%v)", did, err)
	}
	seen, _ = w.see(making(own))
	if did, err := seen.KeepKubeconfig(t.Context()); did != "" || err != nil {
		t.Errorf("before the guest is asked by it, it did %q (%v)", did, err)
	}
	w.guest.set(releasePath, is(configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: own}}))
	if facts := w.ask(making(own)); !facts.Guest.API {
		t.Errorf("it is %+v", facts.Guest)
	}
}

func TestAskUpgrade_asks_no_other_cluster(t *testing.T) {
	if err := upgradeOfAnother(t, own); err == nil || !strings.Contains(err.Error(), "it is another cluster") {
		t.Errorf("it says %v", err)
	}
}

// Its health is told: nobody may know any more which cluster was made.
func TestGuest_that_is_not_known_to_be_ours_is_told_of_once_all_is_installed_and_not_upgraded(t *testing.T) {
	w := identified(t, own)
	version := releaseIs(oldImage, oldImage, "Available=True")
	version.Spec.ClusterID = own
	w.guest.set(releasePath, is(version))
	w.release.version, w.release.image = "4.22.2", newImage
	w.ask(finished, making(""))
	seen, facts := w.see(finished, making(""))
	if !facts.Guest.Known || seen.IsOurs() {
		t.Fatalf("it is %+v", facts.Guest)
	}
	answer := guards.UpgradeIsWanted.Answer(facts)
	if answer.Truth != machine.No || !strings.Contains(answer.Reason, "note its ID in annotation capstan.openshift.io/payload-cluster-id of the payload's Secrets") {
		t.Errorf("its upgrade: %s: %s", answer.Truth, answer.Reason)
	}
	w.guest.questions()
	if result, err := seen.AskUpgrade(t.Context()); err != nil || result.Did != "" || len(w.guest.questions()) > 0 {
		t.Errorf("it asked: %+v, %v", result, err)
	}
	w.ask(finished, making(own))
	if seen, facts = w.see(finished, making(own)); !seen.IsOurs() || guards.UpgradeIsWanted.Answer(facts).Truth != machine.Yes {
		t.Errorf("once its ID is noted it is %+v", facts.Guest)
	}
}

// upgradeOfAnother has a guest be another one between the look at it and its upgrade, where a payload tells what was made.
func upgradeOfAnother(t *testing.T, id string) error {
	t.Helper()
	w := identified(t, own)
	version := configv1.ClusterVersion{Spec: configv1.ClusterVersionSpec{ClusterID: own}}
	version.Status.Desired = configv1.Release{Version: "4.22.0", Image: "registry.example.com/release@sha256:old"}
	version.Status.History = []configv1.UpdateHistory{{State: configv1.CompletedUpdate, Version: "4.22.0", Image: "registry.example.com/release@sha256:old"}}
	w.guest.set(releasePath, is(version))
	w.release.version, w.release.image = "4.22.1", "registry.example.com/release@sha256:new"
	w.ask(finished, making(id))
	seen, _ := w.see(finished, making(id))
	version.Spec.ClusterID = others
	w.guest.set(releasePath, is(version))
	w.guest.questions()
	_, err := seen.AskUpgrade(t.Context())
	for _, one := range w.guest.questions() {
		if strings.HasPrefix(one, http.MethodPatch) {
			t.Errorf("it was asked: %s", one)
		}
	}
	return err
}

// Somebody else writes between the read and the write.
func TestKeepKubeconfig_that_somebody_else_is_quicker_than_is_no_error(t *testing.T) {
	of := schema.GroupResource{Resource: "secrets"}
	for name, refusal := range map[string]error{
		"conflict": apierrors.NewConflict(of, "c-kubeconfig", nil), "there": apierrors.NewAlreadyExists(of, "c-kubeconfig"),
		"gone": apierrors.NewNotFound(of, "c-kubeconfig"),
	} {
		for _, there := range []bool{true, false} {
			w := connected(t)
			s := w.kubeconfig()
			if there {
				s.Data = nil
				must(t, w.plane.Update(t.Context(), s))
			} else {
				must(t, w.plane.Delete(t.Context(), s))
			}
			w.client = interceptor.NewClient(w.plane.(client.WithWatch), interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return refusal },
				Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return refusal },
			})
			if did, err := w.keep(t); did != "" || err != nil {
				t.Errorf("%s, there: %t: it did %q (%v)", name, there, did, err)
			}
		}
	}
}
