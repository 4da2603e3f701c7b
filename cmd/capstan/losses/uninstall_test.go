package losses

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

const asked = "4.22.0-873bdf9a-2"

// foreseen is that a revision removes a Deployment and settings, and keeps a definition for its data.
func foreseen(change func(*phases.Foresight)) *phases.Foresight {
	seen := &phases.Foresight{
		To: &operatorv1alpha1.ClusterAPIInstallerRevision{Name: asked}, Obstacles: []phases.Obstacle{{What: "consent", Why: "w"}, {What: "pause", Why: "by anna", Next: "capstan resume"}},
		Forecast: &engine.Forecast{Removals: []*engine.Foreseen{
			{Key: engine.Key{Kind: "ConfigMap", Namespace: "a", Name: "s\x1b[31m"}, UID: "1", Outlook: "remove", How: engine.Computed, Created: noon.Add(-time.Hour)},
			{Key: engine.Key{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "b"}, UID: "2", Outlook: "remove", How: engine.Tried},
			{Key: engine.Key{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "as.test"}, UID: "3", Outlook: "retain", Holds: "2 instances", How: engine.Computed},
			{Key: engine.Key{Kind: "ConfigMap", Namespace: "a", Name: "gone"}, Outlook: "leave", Why: "is not there any more", How: engine.Computed},
		}},
	}
	if change != nil {
		change(seen)
	}
	return seen
}

func TestUninstallOf_tells_what_goes_what_runs_first_and_what_stays(t *testing.T) {
	u, err := UninstallOf(foreseen(nil), asked, Named)
	if err != nil {
		t.Fatal(err)
	}
	lines := "leave ConfigMap a/gone \nremove ConfigMap a/s\x1b[31m 1\nremove Deployment.apps a/b 2\nretain CustomResourceDefinition.apiextensions.k8s.io as.test 3\n"
	sum := sha256.Sum256([]byte("revision: " + asked + "\n" + lines))
	if u.Digest != hex.EncodeToString(sum[:]) {
		t.Errorf("the digest is %s", u.Digest)
	}
	text := u.Text(noon)
	for _, want := range []string{"Removed: 2 objects (ConfigMap 1, Deployment.apps 1)\n", "60m", "Stays:   1 object\n", "holds 2 instances", "Stops:   pause: by anna; next: capstan resume\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if runs, other := strings.Index(text, "Deployment.apps a/b"), strings.Index(text, "ConfigMap a/s"); runs < 0 || runs > other {
		t.Errorf("what runs is not first in\n%s", text)
	}
	few, err := UninstallOf(foreseen(nil), asked, 1)
	if err != nil || few.Digest != u.Digest || few.More != 1 || len(few.Removed) != 1 || !strings.Contains(few.Text(noon), "    and 1 more: --all names them\n") {
		t.Errorf("with one named it is %+v (%v)", few, err)
	}
}

func TestUninstallOf_the_digest_tells_it_from_all_else(t *testing.T) {
	first, err := UninstallOf(foreseen(nil), asked, Named)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*phases.Foresight){
		"another number":  func(s *phases.Foresight) { s.To.Name = "4.22.0-873bdf9a-3" },
		"another UID":     func(s *phases.Foresight) { s.Forecast.Removals[0].UID = "9" },
		"what stays goes": func(s *phases.Foresight) { s.Forecast.Removals[2].Outlook = "remove" },
		"one object less": func(s *phases.Foresight) { s.Forecast.Removals = s.Forecast.Removals[1:] },
	} {
		if u, err := UninstallOf(foreseen(change), asked, Named); err != nil || u.Digest == first.Digest {
			t.Errorf("%s: the digest is the same (%v)", name, err)
		}
	}
}

func TestUninstallOf_refuses_what_nobody_can_tell_all_of(t *testing.T) {
	for want, change := range map[string]func(*phases.Foresight){
		"you may not see all that would be removed: ConfigMap a/s": func(s *phases.Foresight) {
			s.Forecast.Removals[0].How, s.Forecast.Removals[0].Why = engine.Unseen, "forbidden"
		},
		"you may not see all that would be removed: the inventories": func(s *phases.Foresight) { s.Forecast.Unseen = []string{"the inventories"} },
		"cannot be told: no inventory":                               func(s *phases.Foresight) { s.Obstacles, s.Limits = nil, []string{"no inventory"} },
		"which needs no consent, or has it":                          func(s *phases.Foresight) { s.Obstacles = nil },
		"it is a pin that the operator asks about": func(s *phases.Foresight) {
			s.Obstacles = []phases.Obstacle{{What: "pin", Why: "by anna", Next: "capstan unpin"}}
		},
		"the inputs come to 4.22.0-aaaaaaaa-2": func(s *phases.Foresight) { s.To.Name = "4.22.0-aaaaaaaa-2" },
		"cannot be told: an image": func(s *phases.Foresight) {
			s.Forecast, s.Obstacles = nil, []phases.Obstacle{{What: "images", Why: "an image"}}
		},
	} {
		if _, err := UninstallOf(foreseen(change), asked, Named); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

func TestReleaseOf_is_what_the_name_of_a_revision_begins_with(t *testing.T) {
	for name, want := range map[string]string{asked: "4.22.0", "4.22.0-0.nightly-2026-01-01-873bdf9a-12": "4.22.0-0.nightly-2026-01-01", "odd": ""} {
		if got := ReleaseOf(name); got != want {
			t.Errorf("%s is of %q", name, got)
		}
	}
}
