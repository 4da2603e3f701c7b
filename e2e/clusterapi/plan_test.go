package clusterapi_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// The exit codes of capstan plan.
const (
	codeNothing = 0
	codeChanges = 2
	codeStops   = 3
)

// planned is what capstan plan -o json says.
type planned struct {
	As       struct{ User string }
	State    string
	From, To *struct {
		Number     int64
		Name       string
		Components []struct{ Name string }
	}
	Waves []struct {
		Number    int
		Component string
		Class     string
		Objects   []plannedObject
	}
	Removals []plannedObject
	Stops    []struct {
		What, Why, Next string
		Object          *plannedRef
	}
	Limits []string
	Counts map[string]int
}

type plannedRef struct{ Group, Version, Kind, Resource, Namespace, Name string }

func (r plannedRef) String() string { return r.Kind + "." + r.Group + " " + r.Namespace + "/" + r.Name }

type plannedObject struct {
	Object            plannedRef
	Verdict, How, Why string
	Holds             string
	Fields            []struct {
		Path     string
		From, To any
		Managers []string
	}
}

// all are the objects of a plan, in the order of doing.
func (p planned) all() (all []plannedObject) {
	for _, w := range p.Waves {
		all = append(all, w.Objects...)
	}
	return append(all, p.Removals...)
}

// of is what a plan says of an object.
func (p planned) of(kind, name string) plannedObject {
	GinkgoHelper()
	all := p.all()
	at := slices.IndexFunc(all, func(o plannedObject) bool { return o.Object.Kind == kind && o.Object.Name == name })
	Expect(at).To(BeNumerically(">=", 0), "%s %s is not in the plan", kind, name)
	return all[at]
}

func (p planned) stops() (what []string) {
	for _, s := range p.Stops {
		what = append(what, s.What)
	}
	return what
}

// plan runs capstan plan as a user.
func (c command) plan(ctx context.Context, code int, args ...string) planned {
	GinkgoHelper()
	var p planned
	text := c.run(ctx, code, append([]string{"plan", "-o", "json"}, withCache(args)...)...)
	Expect(json.Unmarshal([]byte(text), &p)).To(Succeed(), text)
	return p
}

// planCache keeps images for all plans of the suite.
var planCache string

func withCache(args []string) []string {
	if planCache == "" {
		planCache = env.Cluster.Dir() + "/plan-images"
	}
	return append(slices.Clone(args), "--cache-dir", planCache)
}

// lookedOnly expects that a command has sent nothing but gets, lists, dry runs and reviews since a mark.
func lookedOnly(ctx context.Context, since cluster.Mark) {
	GinkgoHelper()
	asked, err := env.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	asked = asked.By("capstan-cli")
	Expect(asked).NotTo(BeEmpty())
	for _, r := range asked {
		review := r.Verb == "create" && strings.HasSuffix(r.Resource, "reviews") && strings.HasSuffix(r.APIGroup, ".k8s.io")
		Expect(r.DryRun || review || slices.Contains([]string{"get", "list"}, r.Verb)).To(BeTrue(), r.String())
	}
}

// imageFlags name images in place of the list.
func imageFlags(references map[string]string) (flags []string) {
	for _, ref := range references {
		flags = append(flags, "--image", ref)
	}
	return flags
}

var _ = Describe("capstan plan", func() {
	It("tells what an upgrade of the real providers does, and changes nothing", Label("slow"), func(ctx SpecContext) {
		one, err := env.Push(ctx, providers.ReleaseOne)
		Expect(err).NotTo(HaveOccurred())
		two, err := env.Push(ctx, providers.ReleaseTwo)
		Expect(err).NotTo(HaveOccurred())
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: one})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)

		By("having nothing to do for the list as it is")
		nothing := admin().plan(ctx, codeNothing)
		Expect(nothing.As.User).To(Equal("system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.ServiceAccount))
		Expect(nothing.From.Name).To(Equal(nothing.To.Name))
		Expect(nothing.State).To(Equal(harness.Installed))
		Expect(nothing.Counts).To(HaveLen(1))
		Expect(nothing.Counts).To(HaveKey("leave"))

		By("planning the upgrade within its time, once images are cached")
		admin().plan(ctx, codeChanges, imageFlags(two)...)
		since, began := mark(ctx), time.Now()
		p := admin().plan(ctx, codeChanges, imageFlags(two)...)
		AddReportEntry("core and AWS, with images cached", time.Since(began).String(), ReportEntryVisibilityAlways)
		lookedOnly(ctx, since)
		Expect(p.stops()).To(BeEmpty())
		Expect(p.To.Number).To(Equal(int64(2)))
		Expect(p.of("Deployment", "capi-controller-manager").Verdict).To(Equal("change"))
		Expect(p.of("Deployment", "capi-controller-manager").How).To(Equal("tried"))

		By("upgrading, which does what was said")
		before := photograph(ctx)
		Expect(env.SetImages(ctx, two)).To(Succeed())
		installed(ctx, 2)
		cameTrue(ctx, p, before)
	})

	It("gives a plan to whoever may only read, and marks what is not tried", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), small("one"))})
		mayRead(ctx, "viewer")
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		changed := push(ctx, newProvider("alpha").with(configMap("more", "one")), small("two"))
		since := mark(ctx)
		p := as("viewer").plan(ctx, codeChanges, imageFlags(changed)...)
		lookedOnly(ctx, since)
		Expect(p.As.User).To(Equal("viewer"))
		Expect(p.of("ConfigMap", "changed")).To(And(HaveField("Verdict", "change"), HaveField("How", "computed")))
		Expect(p.of("ConfigMap", "changed").Fields).To(HaveLen(1))
		Expect(p.of("ConfigMap", "changed").Fields[0]).To(And(HaveField("Path", ".data.setting"), HaveField("From", "one"), HaveField("To", "two")))
		Expect(p.of("ConfigMap", "more")).To(And(HaveField("Verdict", "create"), HaveField("How", "computed")))
		Expect(strings.Join(p.Limits, "\n")).To(And(ContainSubstring("may not impersonate"), ContainSubstring("pull secret"), ContainSubstring("rights the operator lacks")))
		tried := admin().plan(ctx, codeChanges, imageFlags(changed)...)
		for i, o := range tried.all() {
			Expect(p.all()[i].Verdict).To(Equal(o.Verdict), o.Object.String())
		}
		Expect(admin().run(ctx, codeChanges, append([]string{"plan", "-o", "name"}, withCache(imageFlags(changed))...)...)).To(And(
			ContainSubstring("change configmaps/changed -n openshift-cluster-api\n"), ContainSubstring("mark customresourcedefinitions.apiextensions.k8s.io/alphas.test.cluster.x-k8s.io\n")))
		Expect(admin().run(ctx, codeNothing, append([]string{"plan", "--exit-code=false", "-o", "diff"}, withCache(imageFlags(changed))...)...)).To(
			ContainSubstring("\n-  setting: one\n+  setting: two\n"))
		Expect(admin().run(ctx, codeChanges, append([]string{"plan"}, withCache(imageFlags(changed))...)...)).To(And(
			ContainSubstring("change  ConfigMap openshift-cluster-api/changed (tried)"), ContainSubstring(`~ .data.setting: "one" -> "two"`), ContainSubstring("What this plan does not tell")))
	})

	It("names what would stop an upgrade, and what it would keep", func(ctx SpecContext) {
		room := object("{apiVersion: v1, kind: Namespace, metadata: {name: room}}")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"), newProvider("beta"), small("one").with(room))})
		operate(harness.OperatorOptions{})
		installed(ctx, 1)
		for _, o := range []*unstructured.Unstructured{
			configMap("theirs", "theirs"), custom("beta", "one"), custom("beta", "two"), object("{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs, namespace: room}}"),
		} {
			Expect(env.Client.Create(ctx, o)).To(Succeed())
		}

		By("an object of somebody else, a kind that nobody serves, and one that its own definition refuses")
		gamma := newProvider("gamma")
		gamma.set("CustomResourceDefinition", "gammas.test.cluster.x-k8s.io", []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"spec": map[string]any{"type": "object", "properties": map[string]any{"setting": map[string]any{"type": "integer"}}}},
			}},
		}}, "spec", "versions")
		bad := push(ctx, newProvider("alpha"), gamma.with(custom("gamma", "wrong")), small("one").with(configMap("theirs", "ours"), custom("nothing", "unserved")))
		since := mark(ctx)
		p := admin().plan(ctx, codeStops, imageFlags(bad)...)
		lookedOnly(ctx, since)
		Expect(p.of("ConfigMap", "theirs").Verdict).To(Equal("collide"))
		Expect(p.of("Nothing", "unserved").Verdict).To(Equal("deny"))
		Expect(p.of("Gamma", "wrong")).To(And(HaveField("Verdict", "deny"), HaveField("How", "later"), HaveField("Why", ContainSubstring("spec.setting"))))
		Expect(p.stops()).To(ContainElements("collide", "deny"))
		Expect(p.of("CustomResourceDefinition", "betas.test.cluster.x-k8s.io")).To(And(HaveField("Verdict", "retain"), HaveField("Holds", ContainSubstring("2 instances"))))
		Expect(p.of("Namespace", "room").Verdict).To(Equal("retain"))
		Expect(p.of("Deployment", "beta")).To(And(HaveField("Verdict", "remove"), HaveField("How", "tried")))

		By("an end of everything, an image that is not there, and a broken one")
		Expect(admin().plan(ctx, codeStops, imageFlags(push(ctx, emptyProvider("alpha")))...).stops()).To(ContainElement("consent"))
		absent := admin().plan(ctx, codeStops, "--image", env.Registry.Host()+"/synthetic/absent@sha256:"+strings.Repeat("0", 64))
		Expect(absent.stops()).To(Equal([]string{"images"}))
		Expect(absent.To).To(BeNil())
		Expect(admin().plan(ctx, codeStops, imageFlags(pushSpoilt(ctx, adding(manifestsFile, "\n---\nnonsense: [\n")))...).stops()).To(Equal([]string{"manifests"}))

		By("the manifests of a release")
		list := object("{apiVersion: v1, kind: ConfigMap, metadata: {name: capi-installer-images, namespace: openshift-cluster-api-operator, annotations: {capi-operator.openshift.io/release-version: 4.23.0}}}")
		for key, ref := range push(ctx, newProvider("alpha"), newProvider("beta"), small("two").with(room)) {
			Expect(unstructured.SetNestedField(list.Object, ref, "data", key)).To(Succeed())
		}
		text, err := yaml.Marshal(list.Object)
		Expect(err).NotTo(HaveOccurred())
		folder := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(folder, "0000_30_images.yaml"), text, 0o600)).To(Succeed())
		p = admin().plan(ctx, codeChanges, "--payload", folder)
		Expect(p.To.Name).To(HavePrefix("4.23.0-"))
		Expect(p.of("ConfigMap", "changed").Verdict).To(Equal("change"))
		Expect(p.Counts).To(And(HaveKeyWithValue("change", 1), HaveLen(2)), "and all others are marked")

		By("the image of a release")
		image, err := env.PushFiles(ctx, "release", map[string][]byte{"release-manifests/0000_30_images.yaml": text, "usr/bin/tool": []byte("x")})
		Expect(err).NotTo(HaveOccurred())
		p = admin().plan(ctx, codeChanges, "--payload", image)
		Expect(p.To.Name).To(HavePrefix("4.23.0-"))
		Expect(p.Counts).To(And(HaveKeyWithValue("change", 1), HaveLen(2)))

		By("a viewer with nothing, with capstan-view, and with all else that may be read")
		unseen := as("viewer").plan(ctx, codeStops)
		Expect(unseen.stops()).To(Equal([]string{"unseen"}))
		Expect(unseen.To).To(BeNil())
		bind(ctx, "capstan-view", "viewer")
		bindRoles(ctx, "capstan-view", "viewer", harness.OperatorNamespace, harness.CAPINamespace, metav1.NamespaceDefault, "openshift-config")
		for _, args := range [][]string{nil, {"--payload", image}} {
			computed := as("viewer").plan(ctx, codeStops, args...)
			Expect(computed.To).NotTo(BeNil())
			Expect(computed.all()).To(And(Not(BeEmpty()), HaveEach(HaveField("How", BeElementOf("computed", "unseen", "later")))))
			Expect(computed.stops()).To(HaveEach("unseen"))
			Expect(computed.Limits).NotTo(ContainElement(ContainSubstring("registries may not be read")))
		}
		mayRead(ctx, "viewer")
		Expect(as("viewer").plan(ctx, codeChanges, "--payload", image).Limits).To(ContainElement(ContainSubstring("pull secret may not be read")))
		Expect(admin().run(ctx, codeFailed, "plan", "--cache-dir", "", "--payload", bad["alpha"])).To(ContainSubstring("it has no folder /release-manifests"))
		Expect(admin().run(ctx, codeFailed, "plan", "--cache-dir", "", "--payload", "quay.io/example/release:4.23.0")).To(And(ContainSubstring("is no folder, and no image"), ContainSubstring("digest")))
	})
})

// mayRead lets a user read all there is but Secrets.
func mayRead(ctx context.Context, user string) {
	GinkgoHelper()
	name := "read-" + user
	var rules []rbacv1.PolicyRule
	for group, resources := range map[string][]string{
		"": {"configmaps", "namespaces", "services", "serviceaccounts", "persistentvolumeclaims"}, "apps": {"*"}, "batch": {"*"}, "rbac.authorization.k8s.io": {"*"},
		"apiextensions.k8s.io": {"*"}, "apiregistration.k8s.io": {"*"}, "admissionregistration.k8s.io": {"*"}, "config.openshift.io": {"*"}, "operator.openshift.io": {"*"},
		"test.cluster.x-k8s.io": {"*"}, "apiextensions.openshift.io": {"*"}, "networking.k8s.io": {"*"}, "policy": {"*"},
	} {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: []string{"get", "list"}})
	}
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
}
