package faults_test

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// checker is the Service of the checker of CRDs, and the replicas behind it.
type checker struct {
	*harness.Service
	replicas []*harness.Webhooks
}

// checking is there in stages that need a checker; nil elsewhere. Operators that are started find it.
var checking *checker

// checkers are the configurations by which API servers ask the checker.
var checkers = client.MatchingLabels{"capstan.openshift.io/checker": "true"}

// check opens the Service and starts replicas of the checker; begin ends them.
func check(ctx context.Context, replicas int) {
	GinkgoHelper()
	service, err := env.NewService(ctx)
	Expect(err).NotTo(HaveOccurred())
	checking = &checker{Service: service}
	for range replicas {
		checking.another()
	}
}

// another starts one more replica.
func (c *checker) another() *harness.Webhooks {
	GinkgoHelper()
	webhooks, err := env.NewWebhooks()
	Expect(err).NotTo(HaveOccurred())
	c.replicas = append(c.replicas, webhooks)
	c.Add(webhooks)
	Expect(webhooks.Start()).To(Succeed())
	return webhooks
}

// killReplicas ends all replicas of the checker with SIGKILL.
func (c *checker) killReplicas() {
	for _, replica := range c.replicas {
		replica.Kill()
		c.Remove(replica)
	}
	c.replicas = nil
}

// endChecker ends the checker, if there is one, and has API servers ask it no more.
func endChecker(ctx context.Context) {
	GinkgoHelper()
	if checking == nil {
		return
	}
	checking.killReplicas()
	for _, kind := range []client.Object{&admissionregistrationv1.ValidatingWebhookConfiguration{}, &admissionregistrationv1.MutatingWebhookConfiguration{}} {
		eventually(ctx, "the checker not to be asked any more", func(ctx context.Context) error { return env.Client.DeleteAllOf(ctx, kind, checkers) })
	}
	Expect(checking.Close(ctx)).To(Succeed())
	checking = nil
}

// past makes a change that the checker would refuse.
func past(ctx context.Context, change func()) {
	GinkgoHelper()
	checking.Sever(true)
	defer checking.Sever(false)
	opens = []string{"capstan-crds", "capstan-requirements"}
	defer func() { opens = nil }()
	for _, name := range opens {
		open(ctx, name)
	}
	change()
}

// opens are the configurations that refuse nothing for want of an answer while something is to get past. An operator that has had a
// proof just before arms them once more.
var opens []string

// open has a configuration of the checker refuse nothing for want of an answer, if it is there.
func open(ctx context.Context, name string) {
	GinkgoHelper()
	eventually(ctx, name+" to be opened", func(ctx context.Context) error {
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, hooks); err != nil {
			return client.IgnoreNotFound(err)
		}
		for i := range hooks.Webhooks {
			hooks.Webhooks[i].FailurePolicy = ptr.To(admissionregistrationv1.Ignore)
		}
		return env.Client.Update(ctx, hooks)
	})
}

// stillRefused is whether an error says that an API server has not noticed yet that it need not ask.
func stillRefused(err error) bool {
	return apierrors.IsInternalError(err) || apierrors.IsForbidden(err)
}

// passes repeats a write until API servers let it through.
func passes(ctx context.Context, what string, write func(context.Context) error) {
	GinkgoHelper()
	eventually(ctx, what, func(ctx context.Context) error {
		for _, name := range opens {
			open(ctx, name)
		}
		err := write(ctx)
		if err != nil && !stillRefused(err) && !apierrors.IsConflict(err) {
			return errors.Join(err, errors.New("it is refused for another reason"))
		}
		return err
	})
}
