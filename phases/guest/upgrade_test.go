package guest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// upgradable is a world whose guest has one release, and another one is asked for.
func upgradable(t *testing.T, version *configv1.ClusterVersion) *world {
	t.Helper()
	w := connected(t)
	w.release.version, w.release.image = "4.22.2", newImage
	w.guest.set(releasePath, is(version))
	w.guest.set(operatorsPath, is(configv1.ClusterOperatorList{Items: []configv1.ClusterOperator{
		operatorIs("etcd", "4.22.2", "Available=True"), operatorIs("dns", "4.22.1", "Available=True"),
	}}))
	return w
}

func TestUpgrade_the_release_that_the_guest_has_is_no_wish_and_no_registry_is_asked(t *testing.T) {
	w := upgradable(t, releaseIs(newImage, newImage, "Available=True"))
	facts := w.ask(finished)
	if facts.Upgrade.Asked != "" || !facts.Upgrade.Known || w.release.asked != 0 {
		t.Errorf("the wish is %+v, and registries were asked %d times", facts.Upgrade, w.release.asked)
	}
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.Yes {
		t.Errorf("done is %s", answer.Truth)
	}
}

func TestUpgrade_a_newer_release_is_wanted_and_asked_for_once(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, oldImage, "Available=True"))
	facts := w.ask(finished)
	if answer := guards.UpgradeIsWanted.Answer(facts); answer.Truth != machine.Yes || !strings.Contains(answer.Reason, "release 4.22.2") {
		t.Fatalf("wanted is %s: %s", answer.Truth, answer.Reason)
	}
	var patched []byte
	w.guest.set(releasePath, func(rw http.ResponseWriter, r *http.Request) {
		version := releaseIs(oldImage, oldImage)
		if r.Method == http.MethodPatch {
			patched, _ = io.ReadAll(r.Body)
			must(t, json.Unmarshal(patched, version))
		} else if len(patched) > 0 {
			version.Spec.DesiredUpdate = &configv1.Update{Image: newImage, Version: "4.22.2"}
		}
		is(version)(rw, r)
	})
	seen, _ := w.see(finished)
	result, err := seen.AskUpgrade(t.Context())
	if err != nil || result.Did != "asked the guest for release 4.22.2" {
		t.Fatalf("it says %+v, %v", result, err)
	}
	if want := `{"metadata":{"annotations":{"capstan.openshift.io/asked-release":"` + newImage + ` ` + newImage + `"}},"spec":{"desiredUpdate":{"architecture":null,"force":null,"image":"` + newImage + `","version":"4.22.2"}}}`; string(patched) != want {
		t.Errorf("it sent %s", patched)
	}
	facts = w.ask(finished)
	w.guest.questions()
	seen, _ = w.see(finished)
	if result, err = seen.AskUpgrade(t.Context()); err != nil || result.Did != "" || len(w.guest.questions()) > 0 {
		t.Errorf("it asks again: %+v, %v", result, err)
	}
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, "1 of 3 operators have the new release, not ClusterVersion version, ClusterOperator dns") {
		t.Errorf("done is %s: %s", answer.Truth, answer.Reason)
	}
}

func TestUpgrade_to_another_image_of_the_version_that_the_guest_has_is_not_done_before_the_guest_has_it(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, oldImage, "Available=True"))
	w.release.version = "4.22.1"
	w.guest.set(operatorsPath, is(configv1.ClusterOperatorList{Items: []configv1.ClusterOperator{operatorIs("etcd", "4.22.1", "Available=True")}}))
	facts := w.ask(finished)
	if wanted := guards.UpgradeIsWanted.Answer(facts); wanted.Truth != machine.Yes {
		t.Fatalf("wanted is %s: %s", wanted.Truth, wanted.Reason)
	}
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, "not ClusterVersion version") {
		t.Errorf("done is %s: %s", answer.Truth, answer.Reason)
	}
}

func TestUpgrade_is_the_same_wish_while_the_guest_cannot_be_read(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, newImage))
	before := w.ask(finished)
	for _, path := range []string{operatorsPath, readyPath} {
		w.guest.set(path, func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusInternalServerError) })
		facts := w.ask(finished)
		if facts.Upgrade.Known || facts.Upgrade.Given != before.Upgrade.Given || facts.Upgrade.Given == "" {
			t.Errorf("without %s the wish is %+v, not %+v", path, facts.Upgrade, before.Upgrade)
		}
	}
	w = upgradable(t, &configv1.ClusterVersion{})
	if facts := w.ask(finished); facts.Upgrade.Given != before.Upgrade.Given || facts.Upgrade.Unasked == "" {
		t.Errorf("of a guest that does not say what it has the wish is %+v", facts.Upgrade)
	}
}

func TestUpgrade_that_is_under_way_is_not_refused_by_what_it_makes_of_the_guest(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, newImage, "Available=True", "Upgradeable=False"))
	w.release.version = "4.23.0"
	if facts := w.ask(finished); facts.Upgrade.Refused != "" || facts.Upgrade.Asked == "" {
		t.Errorf("the wish is %+v", facts.Upgrade)
	}
}

func TestUpgrade_that_is_under_way_is_not_done_where_nobody_knows_what_is_asked_for(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, newImage))
	w.release.fails = errors.New("the registry is down")
	facts := w.ask(finished)
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.Unknown || !strings.Contains(answer.Reason, "the registry is down") {
		t.Errorf("done is %s: %s", answer.Truth, answer.Reason)
	}
}

func TestUpgrade_is_refused_where_it_is_not_safe(t *testing.T) {
	for name, row := range map[string]struct {
		version string
		fails   error
		is      *configv1.ClusterVersion
		says    string
	}{
		"an older release":     {"4.21.9", nil, releaseIs(oldImage, oldImage), "a cluster never goes back"},
		"two minor releases":   {"4.24.0", nil, releaseIs(oldImage, oldImage), "one minor release at a time"},
		"not upgradeable":      {"4.23.0", nil, releaseIs(oldImage, oldImage, "Upgradeable=False"), "Upgradeable False (why)"},
		"nobody knows release": {"", errors.New("the registry is down"), releaseIs(oldImage, oldImage), "the registry is down"},
	} {
		w := upgradable(t, row.is)
		w.release.version, w.release.fails = row.version, row.fails
		facts := w.ask(finished)
		if answer := guards.UpgradeIsWanted.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, row.says) {
			t.Errorf("%s: %s: %s", name, answer.Truth, answer.Reason)
		}
		w.guest.questions()
		seen, _ := w.see(finished)
		if result, err := seen.AskUpgrade(t.Context()); err != nil || result.Did != "" || len(w.guest.questions()) > 0 {
			t.Errorf("%s: it asked: %+v, %v", name, result, err)
		}
	}
}

func TestUpgrade_is_not_known_before_the_bootstrap_is_finished_and_not_wanted_of_a_guest_without_ClusterVersion(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, oldImage))
	if facts := w.ask(); facts.Upgrade.Known {
		t.Error("before the bootstrap is finished it is known")
	}
	w.guest.set(releasePath, nil)
	facts := w.ask(finished)
	if answer := guards.UpgradeIsWanted.Answer(facts); answer.Truth != machine.No || !strings.Contains(answer.Reason, "ClusterVersion does not say") {
		t.Errorf("without ClusterVersion it is wanted: %s (%s)", answer.Truth, answer.Reason)
	}
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.Unknown {
		t.Errorf("without ClusterVersion it is done: %s (%s)", answer.Truth, answer.Reason)
	}
}

// What was seen of a guest at rest may be a minute old.
func TestUpgrade_is_not_asked_for_where_the_guest_has_spoken_against_it_meanwhile(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, oldImage))
	w.release.version = "4.23.0"
	if facts := w.ask(finished); guards.UpgradeIsWanted.Answer(facts).Truth != machine.Yes {
		t.Fatalf("the wish is %+v", facts.Upgrade)
	}
	patched := false
	w.guest.set(releasePath, func(rw http.ResponseWriter, r *http.Request) {
		patched = patched || r.Method == http.MethodPatch
		is(releaseIs(oldImage, oldImage, "Upgradeable=False"))(rw, r)
	})
	seen, _ := w.see(finished)
	if result, err := seen.AskUpgrade(t.Context()); err != nil || result.Did != "" || patched {
		t.Errorf("it asked: %+v, %v", result, err)
	}
	facts := w.ask(finished)
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.Yes || !strings.Contains(answer.Reason, "Upgradeable False") {
		t.Errorf("the wish is %+v, done is %s: %s", facts.Upgrade, answer.Truth, answer.Reason)
	}
}

func TestUpgrade_that_is_under_way_goes_on_where_nobody_can_tell_the_release_for_a_while(t *testing.T) {
	version := releaseIs(oldImage, newImage)
	version.Spec.DesiredUpdate = &configv1.Update{Image: newImage, Version: "4.22.2"}
	w := upgradable(t, version)
	plane := asked()
	must(t, w.plane.Get(t.Context(), key, plane))
	plane.Spec.ReleaseImage = newImage
	must(t, w.plane.Update(t.Context(), plane))
	w.release.fails = errors.New("the registry is down")
	facts := w.ask(finished)
	if answer := guards.UpgradeIsDone.Answer(facts); answer.Truth != machine.Unknown {
		t.Errorf("the wish is %+v, done is %s: %s", facts.Upgrade, answer.Truth, answer.Reason)
	}
}

func TestUpgrade_that_the_guest_refuses_is_an_error(t *testing.T) {
	w := upgradable(t, releaseIs(oldImage, oldImage))
	w.ask(finished)
	w.guest.set(releasePath, status(http.StatusForbidden))
	seen, _ := w.see(finished)
	if _, err := seen.AskUpgrade(t.Context()); err == nil || !strings.Contains(err.Error(), "refuses the credentials") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("it says %v", err)
	}
}
