package guest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	configv1 "github.com/openshift/api/config/v1"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

const brokenImage = "registry.example.com/release@sha256:broken"

// asksFor has a guest be asked for a release, by an annotation that says whose wish it is.
func asksFor(v *configv1.ClusterVersion, noted, image, version string) *configv1.ClusterVersion {
	v.Spec.DesiredUpdate = &configv1.Update{Image: image, Version: version}
	if noted != "" {
		v.Annotations = map[string]string{askedAnnotation: noted + " " + image}
	}
	return v
}

// gives has the spec name a release.
func (w *world) gives(image string) {
	w.t.Helper()
	plane := asked()
	must(w.t, w.plane.Get(w.t.Context(), key, plane))
	plane.Spec.ReleaseImage = image
	must(w.t, w.plane.Update(w.t.Context(), plane))
}

func TestUpgrade_to_a_release_older_than_the_one_that_the_guest_has_begun_is_refused(t *testing.T) {
	begun := releaseIs(oldImage, newImage)
	begun.Status.Desired.Version, begun.Status.History[0].Version = "4.22.5", "4.22.5"
	onlyBegun := releaseIs(oldImage, newImage)
	onlyBegun.Status.Desired = configv1.Release{}
	onlyBegun.Status.History[0].Version = "4.22.5"
	for name, v := range map[string]*configv1.ClusterVersion{"it goes to one": begun, "it has begun one": onlyBegun} {
		for image, version := range map[string]string{oldImage: "4.22.1", brokenImage: "4.22.3"} {
			w := upgradable(t, v)
			w.release.image, w.release.version = image, version
			w.gives(image)
			answer := guards.UpgradeIsWanted.Answer(w.ask(finished))
			if answer.Truth != machine.No || !strings.Contains(answer.Reason, "it has begun to go to 4.22.5, and a cluster never goes back; set spec.releaseImage to that release, or to a newer one") {
				t.Errorf("%s, of %s: %s: %s", name, version, answer.Truth, answer.Reason)
			}
		}
	}
	w := upgradable(t, begun)
	w.release.image, w.release.version = brokenImage, "4.22.6"
	w.gives(brokenImage)
	if answer := guards.UpgradeIsWanted.Answer(w.ask(finished)); answer.Truth != machine.Yes {
		t.Errorf("a newer one: %s: %s", answer.Truth, answer.Reason)
	}
}

func TestUpgrade_that_the_guest_has_not_taken_up_and_that_is_no_more_asked_for_is_taken_off(t *testing.T) {
	for name, row := range map[string]struct {
		noted string
		takes bool
	}{"ours": {brokenImage, true}, "somebody else's": {"", false}} {
		w := upgradable(t, asksFor(releaseIs(newImage, newImage), row.noted, brokenImage, "4.22.3"))
		facts := w.ask(finished)
		if wanted := guards.UpgradeIsWanted.Answer(facts).Truth == machine.Yes; wanted != row.takes {
			t.Fatalf("%s: the wish is %+v", name, facts.Upgrade)
		}
		var patched []byte
		w.guest.set(releasePath, func(rw http.ResponseWriter, r *http.Request) {
			version := asksFor(releaseIs(newImage, newImage), row.noted, brokenImage, "4.22.3")
			version.ResourceVersion = "7"
			if r.Method == http.MethodPatch {
				patched, _ = io.ReadAll(r.Body)
			}
			if len(patched) > 0 {
				version = releaseIs(newImage, newImage)
			}
			is(version)(rw, r)
		})
		seen, _ := w.see(finished)
		if _, err := seen.AskUpgrade(t.Context()); err != nil || row.takes != (len(patched) > 0) {
			t.Fatalf("%s: it sent %s, %v", name, patched, err)
		}
		if want := `{"metadata":{"annotations":{"capstan.openshift.io/asked-release":null},"resourceVersion":"7"},"spec":{"desiredUpdate":null}}`; row.takes && string(patched) != want {
			t.Errorf("%s: it sent %s", name, patched)
		}
		if facts = w.ask(finished); row.takes && guards.UpgradeIsDone.Answer(facts).Truth != machine.Yes {
			t.Errorf("%s: then the wish is %+v", name, facts.Upgrade)
		}
	}
}

func TestUpgrade_that_the_guest_has_taken_up_meanwhile_is_not_taken_off(t *testing.T) {
	w := upgradable(t, asksFor(releaseIs(newImage, newImage), brokenImage, brokenImage, "4.22.3"))
	if facts := w.ask(finished); guards.UpgradeIsWanted.Answer(facts).Truth != machine.Yes {
		t.Fatalf("the wish is %+v", facts.Upgrade)
	}
	patched := false
	w.guest.set(releasePath, func(rw http.ResponseWriter, r *http.Request) {
		patched = patched || r.Method == http.MethodPatch
		is(asksFor(releaseIs(newImage, brokenImage), brokenImage, brokenImage, "4.22.3"))(rw, r)
	})
	seen, _ := w.see(finished)
	if result, err := seen.AskUpgrade(t.Context()); err != nil || patched || result.Did != "" {
		t.Errorf("it was: %+v, %v", result, err)
	}
}

func TestUpgrade_by_a_tag_that_has_moved_since_it_was_asked_for_is_no_other_wish(t *testing.T) {
	const tag = "registry.example.com/release:4.22"
	w := upgradable(t, asksFor(releaseIs(newImage, newImage), tag, newImage, "4.22.2"))
	w.release.image, w.release.version = brokenImage, "4.22.3"
	w.gives(tag)
	if facts := w.ask(finished); facts.Upgrade.Asked != "" || !facts.Upgrade.Known || w.release.asked != 0 {
		t.Errorf("the wish is %+v, and registries were asked %d times", facts.Upgrade, w.release.asked)
	}
	w.gives(tag + "-next")
	if facts := w.ask(finished); facts.Upgrade.Asked != "release 4.22.3" || facts.Upgrade.Given != tag+"-next" {
		t.Errorf("of another tag the wish is %+v", facts.Upgrade)
	}
}
