package clusterapi_test

import (
	"context"
	"errors"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// The halves of the machine, as conditions begin, and the reasons of errors.
const (
	revisionController  = "RevisionController"
	installerController = "InstallerController"

	ephemeral    = "EphemeralError"
	nonRetryable = "NonRetryableError"
)

// small is a provider that is installed in a moment. Its ConfigMaps are called
// by what is done to them: the release changes one, people edit another and
// delete the third, and nobody touches the last.
func small(setting string) *provider {
	return emptyProvider("small").with(
		configMap("changed", setting), configMap("edited", "right"), configMap("deleted", "right"), configMap("untouched", "right"))
}

// good is an installation of small("one"), to which nothing bad may happen
// whatever becomes of the inputs.
type good struct {
	operator  *harness.Operator
	cache     string
	revision  string
	available metav1.Time
	uids      map[string]types.UID
}

// installSmall begins a world with small and possibly other providers, and with
// a cache of images that no other spec has filled.
func installSmall(ctx context.Context, others ...*provider) *good {
	GinkgoHelper()
	begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, append(others, small("one"))...)})
	g := &good{cache: GinkgoT().TempDir()}
	g.operator = operate(harness.OperatorOptions{CacheDir: g.cache})
	g.seen(ctx)
	return g
}

// seen remembers how things are once the first revision is installed.
func (g *good) seen(ctx context.Context) {
	GinkgoHelper()
	v := until(ctx, "the good revision to be installed", harness.Settled(1), fine)
	g.revision, g.available = v.Current(), v.Condition("Available").LastTransitionTime
	g.uids = map[string]types.UID{}
	for _, name := range []string{"changed", "edited", "untouched"} {
		g.uids[name] = settingOf(ctx, name).UID
	}
}

// survives waits until people are told of an error in the right words, and checks
// that the good revision goes on working meanwhile.
func (g *good) survives(ctx context.Context, half, reason string, texts ...string) {
	GinkgoHelper()
	wrong := told(half, reason, texts...)
	v := until(ctx, "the error to be told", wrong)
	AddReportEntry("what an administrator reads", v.Condition(half+"Progressing").Message, ReportEntryVisibilityFailureOrVerbose)
	g.isKept(ctx)
	until(ctx, "the error to be told as before", wrong, g.isCurrent)
}

// isKept edits an object and deletes another one, and sees both put right.
func (g *good) isKept(ctx context.Context) {
	GinkgoHelper()
	Expect(env.Client.Patch(ctx, settingOf(ctx, "edited"), client.RawPatch(types.MergePatchType, []byte(`{"data":{"setting":"wrong"}}`)))).To(Succeed())
	gone := settingOf(ctx, "deleted")
	Expect(env.Client.Delete(ctx, gone)).To(Succeed())
	eventually(ctx, "the edited and the deleted object to be put right", func(ctx context.Context) error {
		return errors.Join(hasSetting(ctx, "edited", "right"), hasSetting(ctx, "deleted", "right"))
	})
	Expect(settingOf(ctx, "deleted").UID).NotTo(Equal(gone.UID))
}

// isCurrent is the question whether the good revision is still the one that is
// installed, and Available without a break.
func (g *good) isCurrent(v harness.View) error {
	if v.Current() != g.revision {
		return fmt.Errorf("the current revision is %q, not %q", v.Current(), g.revision)
	}
	return g.isAvailable(v)
}

func (g *good) isAvailable(v harness.View) error {
	if c := v.Condition("Available"); c == nil || c.Status != configv1.ConditionTrue || !c.LastTransitionTime.Equal(&g.available) {
		return fmt.Errorf("Available was True since %v, and is %+v", g.available, c)
	}
	return nil
}

// isReplaced waits until small(setting) is installed by the same process, and
// checks that nothing was lost on the way.
func (g *good) isReplaced(ctx context.Context, setting string) harness.View {
	GinkgoHelper()
	v := until(ctx, "the repaired revision to be installed", harness.Settled(2), fine, g.isAvailable)
	Expect(v.Current()).NotTo(Equal(g.revision))
	Expect(hasSetting(ctx, "changed", setting)).To(Succeed())
	Expect(hasSetting(ctx, "deleted", "right")).To(Succeed())
	for name, uid := range g.uids {
		Expect(settingOf(ctx, name).UID).To(Equal(uid), "ConfigMap %s was made anew", name)
	}
	Expect(g.operator.Exited()).NotTo(BeClosed(), "the operator has restarted")
	return v
}

// settingOf is a ConfigMap of small.
func settingOf(ctx context.Context, name string) *corev1.ConfigMap {
	GinkgoHelper()
	object := &corev1.ConfigMap{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.CAPINamespace, Name: name}, object)).To(Succeed())
	return object
}

func hasSetting(ctx context.Context, name, setting string) error {
	object := &corev1.ConfigMap{}
	if err := env.Client.Get(ctx, client.ObjectKey{Namespace: harness.CAPINamespace, Name: name}, object); err != nil {
		return err
	}
	if object.Data["setting"] != setting {
		return fmt.Errorf("ConfigMap %s has the setting %q, not %q", name, object.Data["setting"], setting)
	}
	return nil
}

// told is the question whether the half of the machine that met an error says
// so with the reason and these texts, the sum of all conditions as well, and the
// other half not.
func told(half, reason string, texts ...string) func(harness.View) error {
	other := installerController
	if half == other {
		other = revisionController
	}
	questions := []func(harness.View) error{
		says("Available", "True", "AsExpected"),
		says(other+"Progressing", "False", "AsExpected"), says(other+"Degraded", "False", "AsExpected"),
	}
	for _, prefix := range []string{half, ""} {
		if reason == nonRetryable {
			questions = append(questions, says(prefix+"Progressing", "False", reason, texts...), says(prefix+"Degraded", "True", reason, texts...))
		} else {
			questions = append(questions, says(prefix+"Progressing", "True", reason, texts...), says(prefix+"Degraded", "False", "AsExpected"))
		}
	}
	return all(questions...)
}

// fine is the question whether nothing is said to be wrong or under way.
func fine(v harness.View) error {
	var questions []func(harness.View) error
	for _, prefix := range []string{revisionController, installerController, ""} {
		questions = append(questions, says(prefix+"Progressing", "False", "AsExpected"), says(prefix+"Degraded", "False", "AsExpected"))
	}
	return all(append(questions, says("Available", "True", "AsExpected"), says("Upgradeable", "True", "AsExpected"))...)(v)
}

func all(questions ...func(harness.View) error) func(harness.View) error {
	return func(v harness.View) error {
		var problems []error
		for _, question := range questions {
			problems = append(problems, question(v))
		}
		return errors.Join(problems...)
	}
}

var _ = Describe("The list of provider images", func() {
	const place = harness.OperatorNamespace + "/" + harness.ImagesConfigMap

	DescribeTable("names the key of a reference that is not by digest, with a terminal error",
		func(ctx SpecContext, suffix, cause string) {
			g := installSmall(ctx)
			Expect(env.SetImages(ctx, map[string]string{"core": env.Registry.Host() + "/synthetic/small" + suffix})).To(Succeed())
			g.survives(ctx, revisionController, nonRetryable, "key core of ConfigMap "+place, "/synthetic/small"+suffix, cause, "@sha256:")
			release(ctx, small("two"))
			g.isReplaced(ctx, "two")
		},
		Entry("a tag", ":v1.13.3", "is by tag (v1.13.3)"),
		Entry("neither tag nor digest", "", "has no digest"),
		Entry("a digest that is too short", "@sha256:0123", `has the digest "sha256:0123"`),
	)

	It("is waited for when it is deleted", func(ctx SpecContext) {
		g := installSmall(ctx)
		Expect(env.Client.Delete(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: harness.ImagesConfigMap},
		})).To(Succeed())
		g.survives(ctx, revisionController, ephemeral, "ConfigMap "+place, "does not exist", "create it")
		release(ctx, small("two"))
		g.isReplaced(ctx, "two")
	})
})
