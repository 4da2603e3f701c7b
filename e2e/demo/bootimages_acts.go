package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// script is who keeps changing an image back.
const script = client.FieldOwner("nightly-script")

// attempts is how often Capstan writes an image that does not stay.
const attempts = 3

// moveAll completes the release, and tells what became of stubs and templates.
func (m *moving) moveAll(ctx context.Context) error {
	if err := m.follow(ctx, 2, machineSets+pools); err != nil {
		return err
	}
	for _, secret := range []*bootworld.Object{m.setsStub, m.poolsStub} {
		if err := m.tellStub(ctx, secret); err != nil {
			return err
		}
		m.display.step("  which was written %s, for all that start from it", times(m.told.Waves[0].Stubs[secret.GetName()]))
	}
	return m.tellCloned(ctx)
}

// adopt tells what did not follow, and runs the command that Capstan gives for an image that nobody knows.
func (m *moving) adopt(ctx context.Context) error {
	m.display.say("\nTwo sets did not follow")
	skipped, err := m.tellCondition(ctx, "Skipped")
	if err != nil {
		return err
	}
	for _, o := range []*bootworld.Object{m.owned, m.ownedStub, m.foreign, m.foreignStub} {
		if err := m.untouched(ctx, o); err != nil {
			return err
		}
	}
	m.display.step("MachineSets %s and %s and their Secrets %s and %s are as they were", m.owned.GetName(), m.foreign.GetName(), m.ownedStub.GetName(), m.foreignStub.GetName())
	if err := m.obey(ctx, skipped.Message); err != nil {
		return err
	}
	if err := m.becomes(ctx, m.foreign); err != nil {
		return err
	}
	return m.tellStub(ctx, m.foreignStub)
}

// obey does what the first command in a text does: there need not be a kubectl here.
func (m *moving) obey(ctx context.Context, text string) error {
	const kubectl = "kubectl annotate "
	_, command, found := strings.Cut(text, kubectl)
	var resource, namespace, name, annotation string
	if _, err := fmt.Sscanf(command, "%s -n %s %s --overwrite %s", &resource, &namespace, &name, &annotation); err != nil || !found {
		return fmt.Errorf("there is no command to annotate in %q", text)
	}
	annotation = strings.TrimRight(annotation, ";,.")
	key, value, _ := strings.Cut(annotation, "=")
	set := bootworld.MachineSet(name, "{}")
	if !strings.HasPrefix(resource, "machinesets") || namespace != set.GetNamespace() {
		return fmt.Errorf("the command %q is not about a MachineSet of Machine API", command)
	}
	m.display.step("somebody does: %s%s -n %s %s --overwrite %s", kubectl, resource, namespace, name, annotation)
	return m.merge(ctx, set, harness.Administrator, `{metadata: {annotations: {%s: %s}}}`, key, value)
}

// giveWay has a script change an image back until Capstan leaves it alone, and then asks for another attempt.
func (m *moving) giveWay(ctx context.Context) error {
	contested := m.sets[machineSets/2]
	m.display.say("\nA script keeps giving MachineSet %s its old image", contested.GetName())
	for range attempts {
		if err := m.becomes(ctx, contested); err != nil {
			return err
		}
		if err := m.merge(ctx, contested, script, "spec: {template: {spec: {providerSpec: {value: {ami: {id: %s}}}}}}", bootworld.AMI(1)); err != nil {
			return err
		}
		m.display.step("%s changes it back to %s", script, bootworld.AMI(1))
	}
	degraded, err := m.awaitCondition(ctx, "Degraded", metav1.ConditionTrue)
	if err != nil {
		return err
	}
	if !strings.Contains(degraded.Message, string(script)) || !strings.Contains(degraded.Message, contested.GetName()) {
		return fmt.Errorf("the condition does not name %s and %s: %s", contested.GetName(), script, degraded.Message)
	}
	requests, err := m.requests(ctx)
	if err != nil {
		return err
	}
	now, err := m.live(ctx, contested)
	if err != nil {
		return err
	}
	m.told.Attempts, m.told.LastWriter = len(bootworld.WritesOf(requests, contested)), string(script)
	m.display.step("Capstan has written its image %s, and leaves it at %v", times(m.told.Attempts), bootworld.Field(now, bootworld.AMIID))
	if err := m.tellUpgradeable(ctx, configv1.ConditionFalse); err != nil {
		return err
	}
	const retry = "capi-operator.openshift.io/retry"
	m.display.step("the script is ended, and an administrator annotates the MachineSet with %s=ended", retry)
	if err := m.merge(ctx, contested, harness.Administrator, `{metadata: {annotations: {%s: ended}}}`, retry); err != nil {
		return err
	}
	if err := m.becomes(ctx, contested); err != nil {
		return err
	}
	_, err = m.awaitCondition(ctx, "Degraded", metav1.ConditionFalse)
	return err
}

// letGo has the owner of a set let go of it, so that it follows, too.
func (m *moving) letGo(ctx context.Context) error {
	m.display.say("\nThe owner of MachineSet %s lets go of it", m.owned.GetName())
	if err := m.merge(ctx, m.owned, "fleet", "{metadata: {ownerReferences: null}}"); err != nil {
		return err
	}
	if err := m.becomes(ctx, m.owned); err != nil {
		return err
	}
	return m.tellRecorded(ctx, m.releases[0])
}

// alone is how long a clone is left as it is before it is deleted, and a little more.
const alone = 2*time.Minute + time.Second

// next has all sets follow one more release, for which the clones of the last one are no more needed.
func (m *moving) next(ctx context.Context) error {
	old, err := m.clones(ctx)
	if err != nil {
		return err
	}
	m.display.say("\nRelease %s is being installed, and brings the boot image %s", m.world.Version(3), bootworld.AMI(3))
	if err := m.bring(ctx, 3); err != nil {
		return err
	}
	if err := m.follow(ctx, 3, machineSets+pools+2); err != nil {
		return err
	}
	if err := m.tellCloned(ctx); err != nil {
		return err
	}
	if err := m.operator.Advance(alone); err != nil {
		return err
	}
	m.display.step("the operator's clock is set forward by %s: a clone stays for so long after nothing names it", alone)
	err = m.soon(ctx, "the old clones to be gone", func(ctx context.Context) error {
		now, err := m.clones(ctx)
		if err != nil {
			return err
		}
		for name := range old {
			if now[name] {
				return fmt.Errorf("%s is there", name)
			}
		}
		return unless(len(now) == pools, fmt.Sprintf("there are %d clones", len(now)))
	})
	if err != nil {
		return err
	}
	m.told.Retired = len(old)
	m.display.step("the %d clones of release %s, which nothing names any more, are gone", len(old), m.releases[1])
	return m.tellRecorded(ctx, m.releases[0])
}

// clones are the names of the templates that Capstan has made.
func (m *moving) clones(ctx context.Context) (map[string]bool, error) {
	templates, err := m.list(ctx, m.templates[0])
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for i := range templates {
		if templates[i].GetLabels()[bootworld.CloneOf] != "" {
			names[templates[i].GetName()] = true
		}
	}
	return names, nil
}

// becomes waits until a set of the Machine API has the image of the second release, and tells it.
func (m *moving) becomes(ctx context.Context, set *bootworld.Object) error {
	image := bootworld.AMI(2)
	err := m.soon(ctx, fmt.Sprintf("MachineSet %s to have image %s", set.GetName(), image), func(ctx context.Context) error {
		now, err := m.live(ctx, set)
		if err != nil {
			return err
		}
		is := bootworld.Field(now, bootworld.AMIID)
		return unless(is == image, fmt.Sprintf("it has %v", is))
	})
	if err == nil {
		m.display.step("MachineSet %s has %s", set.GetName(), image)
	}
	return err
}

// untouched fails when an object is not as it was made.
func (m *moving) untouched(ctx context.Context, was *bootworld.Object) error {
	now, err := m.live(ctx, was)
	if err != nil {
		return err
	}
	return unless(now.GetResourceVersion() == was.GetResourceVersion(), fmt.Sprintf("%s %s was written", was.GetKind(), was.GetName()))
}

// merge changes an object by a merge patch in YAML, as somebody.
func (m *moving) merge(ctx context.Context, o *bootworld.Object, by client.FieldOwner, patch string, arguments ...any) error {
	text, err := yaml.YAMLToJSON(fmt.Appendf(nil, patch, arguments...))
	if err != nil {
		return fmt.Errorf("reading a patch: %w", err)
	}
	if err := m.stage.Client.Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, text), by); err != nil {
		return fmt.Errorf("changing %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return nil
}

// times says how often something was done.
func times(count int) string {
	if count == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", count)
}
