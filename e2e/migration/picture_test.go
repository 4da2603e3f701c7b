package migration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/hostedworld"
)

// picture is what a move of a hosted cluster has to do with, in words, by kind and name: both sides, what belongs to them, the
// components, the fence and the marks. plain is what the objects of both sides say without what a move notes on them, in standard text,
// uids are those of the same and of what belongs to them, and calls what the cloud was asked for of it.
type picture struct {
	says, plain map[string]string
	uids        map[string]types.UID
	calls       []hostedworld.Call
}

// take has a picture of a hosted cluster that is at rest.
func (m *moving) take(ctx context.Context, h *hostedworld.Hosted) picture {
	GinkgoHelper()
	p := picture{says: map[string]string{}, plain: map[string]string{}, uids: map[string]types.UID{}}
	p.calls = slices.DeleteFunc(m.Cloud.Calls(), func(c hostedworld.Call) bool { return !strings.HasPrefix(c.Machine, h.Namespace()+"/") })
	for _, side := range []string{hostedworld.Standard, hostedworld.Private} {
		all, err := h.Stored(ctx, side)
		Expect(err).NotTo(HaveOccurred())
		for name, o := range all {
			key := side + " " + name
			what := []any{o.GetLabels(), o.GetFinalizers(), ownersOf(o), o.Object["spec"], readyOf(o)}
			p.says[key] = text(append(what, kept(o.GetAnnotations(), true))...)
			p.plain[key] = inStandard(text(append(what, kept(o.GetAnnotations(), false))...))
			p.uids[key] = o.GetUID()
		}
	}
	secrets := &corev1.SecretList{}
	Expect(m.Client.List(ctx, secrets, client.InNamespace(h.Namespace()))).To(Succeed())
	for i := range secrets.Items {
		key := "Secret " + secrets.Items[i].Name
		p.says[key], p.uids[key] = text(ownersOf(&secrets.Items[i])), secrets.Items[i].UID
	}
	deployments := &appsv1.DeploymentList{}
	Expect(m.Client.List(ctx, deployments, client.InNamespace(h.Namespace()))).To(Succeed())
	for i := range deployments.Items {
		one := &deployments.Items[i]
		p.says["Deployment "+one.Name] = text(kept(one.Annotations, true), one.Spec.Replicas, one.Spec.Template)
	}
	namespace := &corev1.Namespace{}
	Expect(m.Client.Get(ctx, client.ObjectKey{Name: h.Namespace()}, namespace)).To(Succeed())
	p.says["Namespace"] = text(namespace.Labels)
	hosted, err := h.Get(ctx)
	Expect(err).NotTo(HaveOccurred())
	p.says["HostedCluster"] = text(hosted.GetAnnotations(), hosted.GetFinalizers(), hosted.Object["spec"])
	return p
}

// text is what values say: maps in order of their keys.
func text(values ...any) string {
	GinkgoHelper()
	data, err := json.Marshal(values)
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}

// kept are annotations without what Deployments count, and of those that a move notes on objects, such as the UID of the one that it
// is a copy of, only that they are there, or nothing.
func kept(annotations map[string]string, notes bool) map[string]string {
	all := map[string]string{}
	for name, value := range annotations {
		switch {
		case name == "deployment.kubernetes.io/revision":
		case !strings.HasPrefix(name, "capstan.openshift.io/"):
			all[name] = value
		case notes:
			all[name] = "..."
		}
	}
	return all
}

func inStandard(text string) string { return strings.ReplaceAll(text, private, standard) }

func ownersOf(o client.Object) (all []string) {
	for _, owner := range o.GetOwnerReferences() {
		all = append(all, fmt.Sprint(owner.APIVersion, owner.Kind, owner.Name, *owner.Controller, *owner.BlockOwnerDeletion))
	}
	return all
}

// readyOf is whether an object that has a status is ready, without since when.
func readyOf(o *hostedworld.Object) string {
	status, has := o.Object["status"].(map[string]any)
	if !has {
		return ""
	}
	return fmt.Sprint(status["phase"], hostedworld.IsReady(o))
}

// expectSame checks that what a picture says is what another one says, but for some of its keys.
func expectSame(is, was picture, but ...string) {
	GinkgoHelper()
	for _, key := range slices.Sorted(maps.Keys(was.says)) {
		if !slices.Contains(but, key) {
			Expect(is.says[key]).To(Equal(was.says[key]), key)
		}
	}
	Expect(slices.Sorted(maps.Keys(is.says))).To(Equal(slices.Sorted(maps.Keys(was.says))))
}

// expectUntouched checks that nothing is left of a move that was undone: the objects are those that there were, and the HostedCluster
// has these annotations and no others.
func expectUntouched(is, was picture, marks map[string]string) {
	GinkgoHelper()
	expectSame(is, was, "HostedCluster")
	Expect(is.uids).To(Equal(was.uids))
	Expect(is.calls).To(Equal(was.calls), "what the cloud was asked for")
	Expect(is.says["HostedCluster"]).To(Equal(marked(marks)))
}

// marked is what a HostedCluster says that has some annotations, and neither lock nor finalizer.
func marked(marks map[string]string) string {
	return text(marks, []string(nil), map[string]any{"platform": map[string]any{"type": "None"}})
}

// expectMovedAway checks that all of a hosted cluster has moved: what was standard is private, says the same, and owns what it owned.
func expectMovedAway(is, was picture) {
	GinkgoHelper()
	moved := map[string]string{}
	for key, said := range was.plain {
		moved[strings.Replace(key, standard, private, 1)] = said
	}
	Expect(is.plain).To(Equal(moved))
	for key, said := range was.says {
		if strings.HasPrefix(key, "Secret ") {
			Expect(inStandard(is.says[key])).To(Equal(said), key)
			Expect(is.uids[key]).To(Equal(was.uids[key]), key)
		}
	}
	Expect(is.uids).To(HaveLen(len(was.uids)))
	Expect(is.calls).To(Equal(was.calls), "what the cloud was asked for")
	Expect(is.says["Namespace"]).To(Equal(was.says["Namespace"]))
	Expect(is.says["HostedCluster"]).To(Equal(marked(map[string]string{movedMark: "true"})))
}

// The marks of who reconciles a HostedCluster.
const (
	legacyMark = "hypershift.openshift.io/scope"
	movedMark  = "hypershift.openshift.io/private-capi-types"
)
