package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// symptom is a message that people read, what it means and what to do.
type symptom struct {
	name string
	// has are texts that are in the message, with the next step that it names: a sighting without them is stale.
	has         []string
	means, todo string
}

// symptoms are the sections of docs/troubleshooting.md.
var symptoms = []symptom{
	{
		"There is no ClusterAPI object",
		[]string{"ClusterAPI cluster does not exist; create it to go on"},
		"Revisions are listed in the status of ClusterAPI `cluster`, and it is not there. What is installed stays; it is repaired as long as this operator process runs, and after a restart only once the object is back.",
		"Create it with the `spec.unmanagedCustomResourceDefinitions` that it had: `deploy/clusterapi.yaml` has none, and a CRD that is not listed is Capstan's to write again. The operator goes on by itself. What was installed is found again, object by object, and gets a new revision number.",
	},
	{
		"The platform is not known",
		[]string{"Infrastructure cluster has no status.platformStatus.type yet"},
		"Profiles are chosen by platform, and the cluster has not said yet what platform it runs on.",
		"Look at `oc get infrastructure cluster -o yaml`. The installer of the cluster writes this status; nothing has to be done on the operator.",
	},
	{
		"The list of images is missing",
		[]string{"ConfigMap openshift-cluster-api-operator/capi-installer-images does not exist; the release's manifests should create it with one image reference by digest per key"},
		"The release's list of provider images was deleted. What is installed is kept applied; nothing newer can be planned, and after five minutes it is Degraded.",
		"The cluster-version operator brings it back. On a cluster without one: `oc apply -f deploy/images.yaml` with your release's digests.",
	},
	{
		"The former installer runs",
		[]string{"of a former installer runs", "capstan takeover --dry-run"},
		"The installer that OpenShift shipped before writes to the same objects. Nothing is planned beside it; what this operator has installed is kept. After ten minutes it is Degraded.",
		"`capstan takeover --dry-run` says what ending it would do; the [runbook](runbooks/takeover.md) leads through it, and back.",
	},
	{
		"The list of images is for another release",
		[]string{"is for release", "this operator is of release"},
		"In an upgrade the list comes before the operator of its release. Until that one runs, this one keeps what is installed, finishes a rollout that has begun, and plans nothing.",
		"Wait for the upgrade. If it stands still, look why the new Deployment does not come up: `oc -n openshift-cluster-api-operator describe deployment capstan`, and at ClusterVersion `version`.",
	},
	{
		"An image is listed by tag",
		[]string{"is by tag"},
		"Tags move, so that a revision could not be made again. It is Degraded at once, and no attempt can succeed before the list changes.",
		"Put the digest that the message asks for into ConfigMap `capi-installer-images`.",
	},
	{
		"Everything would be uninstalled",
		[]string{
			"would uninstall every component", "list images in ConfigMap openshift-cluster-api-operator/capi-installer-images that have it",
			"; if it is to go, consent: capstan consent --uninstall --reason TEXT",
		},
		"The list of provider images was emptied, or nothing that it lists brings a component any more. Such a list is not followed without consent: what is installed is kept applied, and a rollout goes on.",
		"Put the references back into ConfigMap `capi-installer-images`; nothing else has to be done. Only if everything is to be uninstalled, run the command that the message ends with: it shows what would go, and consents to this one revision. Data is retained even then.",
	},
	{
		"An image is being fetched",
		[]string{"provider images are being fetched"},
		"Nothing is wrong yet. If the registry does not answer, an error takes the place of this message.",
		"Wait. If it lasts, look at the network between the operator's pod and the registry that is named.",
	},
	{
		"The registry cannot be reached",
		[]string{"registry", "cannot be reached"},
		"No connection, or one that broke. Images that are in the operator's cache need no registry.",
		"Check DNS, proxy and firewall from the node on which the operator's pod runs. It is tried again at least once in a minute.",
	},
	{
		"The registry asks for credentials",
		[]string{"401 Unauthorized"},
		"The pull secret has no entry for this repository, or one that is not accepted.",
		"Repair Secret `openshift-config/pull-secret`; the operator tries again as soon as it changes.",
	},
	{
		"The registry fails",
		[]string{"registry", "500 Internal Server Error"},
		"The registry was reached and answered with an error of its own.",
		"Look at the registry's own log. It is tried again at least once in a minute.",
	},
	{
		"Images cannot be cached",
		[]string{"cannot be stored in the cache folder"},
		"The image is used all the same, but the next start has to pull it again, and needs the registry for that.",
		"Free or enlarge the volume of `--cache-dir`, or make it writable.",
	},
	{
		"A workload does not become available",
		[]string{"waits for Deployment"},
		"A wave begins when everything in the one before it works. The revision that was installed before goes on working.",
		"Read the cause that follows the object's name, and look at its pods: `oc describe deployment` and `oc get pods` in the namespace that is named.",
	},
	{
		"No progress for five minutes",
		[]string{"no progress for 5m"},
		"For five minutes no further object has become what it should be. The operator goes on trying; somebody should look.",
		"Read what it waits for, after the colon, and see the section about that. Degraded ends by itself when there is progress, or when an input changes.",
	},
	{
		"An object cannot be deleted",
		[]string{"finalizer"},
		"The new revision is installed. An object that only the older one had is being deleted, and a finalizer keeps it.",
		"Find out who the finalizer belongs to and why that program does not act. Remove the finalizer by hand only if you know what it protects.",
	},
	{
		"The operator may not write",
		[]string{"is forbidden", "cannot patch resource"},
		"RBAC refuses what the operator has to do.",
		"Apply `deploy/rbac.yaml` of the release again. For a kind that a provider brings, the provider's image needs a ClusterRole with the label `capi-operator.openshift.io/aggregate-to-installer`.",
	},
	{
		"A webhook stands in the way",
		[]string{"failed calling webhook"},
		"An admission webhook is asked about the object, does not answer, and the API server refuses the write because of that.",
		"Repair the webhook's backend, or delete its configuration if its owner is gone. One whose name ends in `.capstan.openshift.io` is the checker of CRDs, and its configurations come back: `capstan disarm --yes`, see [compatibility.md](compatibility.md).",
	},
	{
		"The API server fails",
		[]string{"Internal Server Error", "updating"},
		"The API server, or something behind it, has failed. Nothing is lost; the write is tried again, at the latest after 30 seconds.",
		"Look at kube-apiserver and etcd: `oc get clusteroperators kube-apiserver etcd`.",
	},
	{
		"The API server asks for patience",
		[]string{"asked to be left alone until"},
		"The API server is overloaded and has said when to try again.",
		"Wait. If it goes on, find the client that overloads it with `oc get --raw /debug/api_priority_and_fairness/dump_requests`.",
	},
	{
		"An object belongs to somebody else",
		[]string{"exists", "belongs to", "adopt-existing"},
		"An object of this name exists and was not made by this operator. It is not touched.",
		"Delete or rename it. If it may be taken over, the provider's manifest can say so with the annotation `capi-operator.openshift.io/adopt-existing: always`.",
	},
	{
		"Somebody changes an object back",
		[]string{"is changed by field manager", "again and again"},
		"The named manager changes a field as often as the operator puts it right. The operator backs off: it writes the object less and less often.",
		"Find out what the manager is for, and stop one of the two. A CustomResourceDefinition can be given up with `spec.unmanagedCustomResourceDefinitions`, for good.",
	},
	{
		"An image brings nothing",
		[]string{"has no folder /capi-operator-manifests and brings nothing; if it is a provider image, rebuild it with its profiles there"},
		"An image is listed that is no provider image, or was built without its profiles. It is ignored. While it is listed, a revision that lacks a component which is installed is listed only by consent, since the component may be this image's.",
		"If it is a provider image, rebuild it with its profiles in that folder, and list the new digest; otherwise take its key out of ConfigMap `capi-installer-images`.",
	},
	{
		"A field is changed as it is written",
		[]string{"is changed by the API server, a webhook or an admission policy whenever it is written", "or have the webhook or policy leave it alone"},
		"What is written is not what is stored. The object counts as applied, and is written less and less often.",
		"Let the manifest say what the cluster makes of the field, such as a default; or have the webhook or the policy leave it alone: `oc get mutatingwebhookconfigurations,mutatingadmissionpolicies` shows which there are.",
	},
	{
		"A workload was scaled to zero",
		[]string{"scaled to zero by", "scale it up, or let the manifest say 0"},
		"Somebody has stopped a workload that the manifest wants to run. A workload that is paused in the middle of a rollout is told alike. The operator does not undo what the manifest does not name.",
		"Scale it up, or resume it: `oc scale deployment`, `oc rollout resume`. If it is to stay so, let the manifest say 0 replicas.",
	},
	{
		"An API group does not answer",
		[]string{"API groups that may have objects of older revisions and do not answer", "repair or remove their APIServices"},
		"The inventory of an older revision was lost, so that its objects are looked for among all kinds, and a server that serves some of them does not answer. The new revision is installed and kept; the older one is not forgotten before its objects are found.",
		"Repair the server of the groups that are named, or remove their APIServices: `oc get apiservices` shows which are not available. Of a group that answers, the operator may not list a kind: give it back the verb `list`.",
	},
	{
		"An object has a number that nobody knows",
		[]string{"carries revision number", "of which no inventory tells, so that it may have any content: take its annotation"},
		"Somebody restored or edited the object, or inventories were lost. It may have any content, so the revision does not count as applied.",
		"Do what the message says. Where the operator wrote the number, it lists a revision with a higher one by itself; otherwise take the annotation away, and the object is written as it should be.",
	},
	{
		"A CRD that an administrator manages does not fit",
		[]string{"AwaitingCRDs", "CompatibilityRequirement capstan-shape.", "Compatible is False, RequirementsNotMet"},
		"A CRD in `spec.unmanagedCustomResourceDefinitions` lacks something that the new revision needs. Nothing of that revision is applied but what it requires of the CRD; the one before stays installed and is kept. After five minutes it is Degraded.",
		"Have the CRD's owner install a version of it that has the fields which the message names. The operator goes on by itself. If its owner cannot write one, because a requirement of the installed release refuses it, see [the emergency route](compatibility.md#a-crd-that-cannot-wait).",
	},
	{
		"A CRD that an administrator manages does not exist",
		[]string{"CompatibilityRequirement capstan-shape.", "CRDNotFound"},
		"As above, and there is no such CRD at all: it was not installed yet, or somebody has deleted it.",
		"Have its owner install it. A version that lacks what is needed is refused.",
	},
	{
		"The checker of CRDs is away",
		[]string{"CompatibilityRequirement ", "no replica of Deployment capstan-webhooks is ready", "to have nothing held up while nobody answers: capstan disarm --yes"},
		"No replica of the checker has been ready for a minute on end in 15 minutes. What requirements deny was refused for so long, for want of an answer; nothing is refused for them now. New requirements still are.",
		"Look at the Deployment: `oc -n openshift-cluster-api-operator describe deployment capstan-webhooks`. Once a replica has been ready for a minute, everything is armed again by itself. See the [runbook](runbooks/CapstanCheckerAway.md).",
	},
	{
		"A requirement cannot be put in force",
		[]string{"CompatibilityRequirement ", " is Degraded", "to have nothing held up while nobody answers: capstan disarm --yes"},
		"The webhooks of a CompatibilityRequirement cannot be written, or the checker has not proved itself for five minutes: it is not ready, or API servers cannot reach it. Nothing is promised for the requirement meanwhile.",
		"The message names what is missing. `capstan status --machine compatibility --key NAME` says more, and the [runbook](runbooks/CapstanCompatibilityDegraded.md) what to look at.",
	},
	{
		"The list of revisions is full",
		[]string{"16 revisions are listed in ClusterAPI.status, and the API allows no more; remove one that never became current (capstan recover does): "},
		"The API allows no more than 16 revisions, and none of the newer ones has become current.",
		"`capstan recover --dry-run` shows what can be removed, `--yes` removes it. Then repair what kept those revisions from being installed.",
	},
}

// sightingsFile holds a message for each symptom, as the last full run has seen it.
const sightingsFile = "testdata/sightings.yaml"

// sightings are the messages that this run has seen, by symptom.
var sightings = map[string]string{}

// sight remembers the messages of a view.
func sight(v harness.View) {
	if v.ClusterOperator == nil || healed(v.Record) {
		return
	}
	for _, c := range v.ClusterOperator.Status.Conditions {
		for _, s := range symptoms {
			if !s.isIn(c.Message) {
				continue
			}
			// The shortest has the least in it that is about something else.
			text := plain(c.Message)
			if known := sightings[s.name]; known == "" || len(text) < len(known) {
				sightings[s.name] = text
			}
		}
	}
}

// healed reports whether a machine that an error has led to Degraded meets that
// error no more: it is on its way out, and its message will not last.
func healed(r harness.Record) bool {
	if r.State != harness.Degraded || r.Failure != nil || len(r.Transitions) == 0 {
		return false
	}
	return r.Transitions[len(r.Transitions)-1].Event == "FailureEstablished"
}

func (s symptom) isIn(message string) bool {
	for _, text := range s.has {
		if !strings.Contains(message, text) {
			return false
		}
	}
	return true
}

// fleeting is what differs from run to run, with what is shown instead.
var fleeting = []struct {
	form    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`sha256:[0-9a-f]{64}`), "sha256:…"},
	{regexp.MustCompile(`@[0-9a-f]{12}\b`), "@0123456789ab"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "registry.example.com"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`), "2026-01-01 12:00:00Z"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\dZ`), "12:00:00Z"},
	{regexp.MustCompile(`/tmp/[^ ;:]+/cache`), "/var/cache/capstan"},
	{regexp.MustCompile(`/tmp/[^ ;:]+`), "/var/cache"},
	{regexp.MustCompile(`4\.22\.0-[0-9a-f]{8}-`), "4.22.0-873bdf9a-"},
	{regexp.MustCompile(`(worker)-[0-9a-f]+-[0-9a-z]+`), "$1-5d8c7-x2k4p"},
	{regexp.MustCompile(`edited-\d+`), "settings"},
	{regexp.MustCompile(`^(RevisionController|InstallerController)\w+: `), ""},
	{regexp.MustCompile(`the fault proxy answers `), ""},
}

func plain(message string) string {
	for _, f := range fleeting {
		message = f.form.ReplaceAllString(message, f.instead)
	}
	return message
}

// seenBefore are the sightings of earlier full runs.
func seenBefore() (map[string]string, error) {
	seen := map[string]string{}
	text, err := os.ReadFile(sightingsFile)
	if err != nil {
		return seen, err
	}
	return seen, yaml.Unmarshal(text, &seen)
}

// keepSightings puts what this run has seen in the place of what was seen
// before. A run of everything has to see everything; another one fills gaps.
func keepSightings() error {
	seen, err := seenBefore()
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	suite, _ := ginkgo.GinkgoConfiguration()
	everything := len(suite.FocusStrings) == 0
	for _, s := range symptoms {
		message, known := sightings[s.name]
		switch {
		case everything && !known:
			return fmt.Errorf("no message of %q was seen", s.name)
		case known && (everything || !s.isIn(seen[s.name])):
			seen[s.name] = message
		}
	}
	text, err := yaml.Marshal(seen)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(sightingsFile), 0o755); err != nil {
		return err
	}
	return os.WriteFile(sightingsFile, text, 0o644)
}

// troubleshootingDocument is docs/troubleshooting.md. Every message in it was seen.
func troubleshootingDocument(t *testing.T) string {
	seen, err := seenBefore()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!-- Generated by make generate from e2e/faults; do not edit. -->\n# Troubleshooting\n\n" +
		"Where to look first: `oc get clusteroperator cluster-api -o yaml`, or `capstan status` and `capstan explain`, which tell the\n" +
		"same in fewer words. An error that lasts five minutes makes the operator Degraded; Degraded ends by\n" +
		"itself when the error does. Each section begins with a message as it was seen in a test, with other names and times.\n")
	for _, s := range symptoms {
		if !s.isIn(seen[s.name]) {
			t.Errorf("no test has seen a message of %q; run make test-faults", s.name)
		}
		fmt.Fprintf(&b, "\n## %s\n\n> %s\n\n%s\n\n**What to do.** %s\n", s.name, strings.ReplaceAll(seen[s.name], "\n", "\n> "), s.means, s.todo)
	}
	return b.String()
}
