package faults_test

import (
	"context"
	"errors"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/proxy"
)

// nonsense is what somebody writes in the place of records.
const nonsense = "nonsense"

// bootRights are where the operator makes the writes of boot images: the group, the resource with its subresource, the namespace, and
// the name if the right is for one object.
var bootRights = map[string]authorizationv1.ResourceAttributes{
	"secrets":               {Resource: "secrets", Namespace: harness.CAPINamespace},
	"awsmachinetemplates":   {Group: "infrastructure.cluster.x-k8s.io", Resource: "awsmachinetemplates", Namespace: harness.CAPINamespace},
	"machinesets":           {Group: "cluster.x-k8s.io", Resource: "machinesets", Namespace: harness.CAPINamespace},
	"configmaps":            {Resource: "configmaps", Namespace: harness.OperatorNamespace},
	"machineconfigurations": {Group: "operator.openshift.io", Resource: "machineconfigurations", Subresource: "status", Name: harness.Singleton},
}

// forbid takes the rights to writes away, and returns what gives them back.
func forbid(ctx context.Context, writes ...proxy.Rule) (again func()) {
	GinkgoHelper()
	var rights []authorizationv1.ResourceAttributes
	for _, write := range writes {
		right := bootRights[write.Resource]
		if right.Verb = write.Verb; right.Verb == "write" {
			right.Verb = "update"
		}
		rights = append(rights, right)
	}
	var restore []func()
	change := func(o client.Object, rules *[]rbacv1.PolicyRule) {
		was := slices.Clone(*rules)
		*rules = stripped(was, rights)
		if !strings.HasPrefix(o.GetName(), harness.ServiceAccount) || slices.EqualFunc(was, *rules, func(a, b rbacv1.PolicyRule) bool { return a.String() == b.String() }) {
			return
		}
		Expect(env.Client.Update(ctx, o)).To(Succeed())
		restore = append(restore, func() {
			*rules = was
			Expect(env.Client.Update(ctx, o)).To(Succeed())
		})
	}
	clusterRoles, roles := &rbacv1.ClusterRoleList{}, &rbacv1.RoleList{}
	Expect(env.Client.List(ctx, clusterRoles)).To(Succeed())
	Expect(env.Client.List(ctx, roles)).To(Succeed())
	for i := range clusterRoles.Items {
		change(&clusterRoles.Items[i], &clusterRoles.Items[i].Rules)
	}
	for i := range roles.Items {
		change(&roles.Items[i], &roles.Items[i].Rules)
	}
	for _, right := range rights {
		awaitRight(ctx, right, false)
	}
	return func() {
		for _, undo := range restore {
			undo()
		}
		for _, right := range rights {
			awaitRight(ctx, right, true)
		}
	}
}

// stripped are rules that give none of the rights, and some others neither.
func stripped(rules []rbacv1.PolicyRule, rights []authorizationv1.ResourceAttributes) (left []rbacv1.PolicyRule) {
	for _, rule := range rules {
		for _, right := range rights {
			resource := right.Resource
			if right.Subresource != "" {
				resource += "/" + right.Subresource
			}
			if slices.Contains(rule.APIGroups, right.Group) && (slices.Contains(rule.Resources, resource) || slices.Contains(rule.Resources, "*")) {
				rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == right.Verb })
			}
		}
		if len(rule.Verbs) > 0 {
			left = append(left, rule)
		}
	}
	return left
}

// awaitRight waits until the operator may do something, or may not: a right takes a moment to work.
func awaitRight(ctx context.Context, right authorizationv1.ResourceAttributes, allowed bool) {
	GinkgoHelper()
	const account = "system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.ServiceAccount
	eventually(ctx, "the rights of the operator to change", func(ctx context.Context) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: account, Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + harness.OperatorNamespace}, ResourceAttributes: &right,
		}}
		if err := env.Client.Create(ctx, review); err != nil {
			return err
		}
		if review.Status.Allowed != allowed {
			return errors.New("they have not")
		}
		return nil
	})
}

var bootObjectFaults = []bootFault{
	{
		name: "record deleted", doc: "Somebody deletes the ConfigMaps with the records of targets, or takes the gate's out of the ClusterOperator.", quick: true,
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			if c.machine == "bootgate" {
				patchStatus(ctx, theClusterOperator(), `{"status":{"extension":{"bootgate":null}}}`)
				return
			}
			shards, err := bootShards(ctx)
			Expect(err).NotTo(HaveOccurred())
			Expect(shards).NotTo(BeEmpty())
			for i := range shards {
				Expect(env.Client.Delete(ctx, &shards[i])).To(Succeed())
			}
		},
		expect: keptOf,
	},
	{
		name: "record spoilt", doc: "Somebody writes nonsense into the ConfigMaps with the records of targets, or into the gate's.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			if c.machine == "bootgate" {
				patchStatus(ctx, theClusterOperator(), `{"status":{"extension":{"bootgate":{"state":"Ajar","since":7}}}}`)
				return
			}
			Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error { // the operator may be writing one
				shards, err := bootShards(ctx)
				for i := range shards {
					for key := range shards[i].BinaryData {
						shards[i].BinaryData[key] = []byte(nonsense)
					}
					err = errors.Join(err, env.Client.Update(ctx, &shards[i]))
				}
				return err
			})).To(Succeed())
		},
		expect: func(s *bootStage) bootExpectation {
			e := keptOf(s)
			e.uncounted = true // it is written again when there is something to write
			return e
		},
	},
	{
		name: "CRD deleted", doc: "The definition of the target's kind is deleted, and with it the target; of the gate, the MachineConfiguration. Later they are made anew.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			if c.machine == "bootgate" {
				remove(ctx, bootConfiguration())
				c.later(func() { Expect(env.Client.Create(ctx, bootConfiguration(), administrator)).To(Succeed()) })
				if c.state == waitingForConfig {
					c.letGo()
				}
				return
			}
			remove(ctx, shape("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "machinesets.cluster.x-k8s.io"))
			c.later(func() {
				defineBoot(ctx)
				Expect(env.Client.Create(ctx, bootSet(), administrator)).To(Succeed())
			})
			eventually(ctx, "the target to be gone", func(ctx context.Context) error {
				if exists(ctx, bootSet(), "") == nil {
					return errors.New("it is there")
				}
				return nil
			})
			c.letGo()
		},
		expect: func(s *bootStage) bootExpectation {
			if s.machine == "bootgate" {
				return bootExpectation{word: gateOff, to: gateOff}
			}
			e := bootExpectation{word: noTargets, gone: true, again: 1, promise: anything}
			if s.rests || s.state == settling {
				e.more = map[string]int{"patch machinesets": 1}
			}
			return e
		},
	},
	{
		name: "Secret deleted", doc: "Somebody deletes the Secret that the target's machines start from, and makes it anew later, as it was.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			secret := bootSecret("")
			Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(secret), secret)).To(Succeed())
			remove(ctx, secret)
			c.later(func() {
				anew := shape("v1", "Secret", harness.CAPINamespace, workerStub)
				anew.Object["data"] = secret.Object["data"]
				Expect(env.Client.Create(ctx, anew, administrator)).To(Succeed())
			})
			if c.state == upgradingStub {
				c.letGo()
			}
		},
		expect: func(s *bootStage) bootExpectation {
			if s.machine == "bootgate" {
				return bootExpectation{never: "it has to do with no Secret"}
			}
			if s.state == cloning { // its request is under way as long as the fault lasts
				return bootExpectation{word: movesOn, again: 1}
			}
			if s.rests { // an alert calls somebody when it lasts
				return bootExpectation{word: unnoticed}
			}
			return bootExpectation{word: told, told: []string{workerStub, "not found"}, again: 1}
		},
	},
}

// keptOf expects a state to be kept, whatever becomes of its record.
func keptOf(s *bootStage) bootExpectation {
	if s.state == waitingForVoucher || s.rests {
		return bootExpectation{word: unnoticed}
	}
	return bootExpectation{word: movesOn, again: 1}
}
