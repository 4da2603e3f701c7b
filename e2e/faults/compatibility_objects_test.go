package faults_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var needObjectFaults = []needFault{
	{
		name: "configurations edited", doc: "Somebody edits every configuration by which API servers ask the checker.", quick: true,
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			editAll(ctx, func(hooks *validating) {
				for i := range hooks.Webhooks {
					hooks.Webhooks[i].MatchConditions = nil
				}
			})
			c.disturb(ctx)
		},
		expect: func(s *needStage) needExpectation {
			if s.state == refused || s.state == inOpen {
				return needExpectation{never: "its work sets what refuses, and no more"}
			}
			return repaired(s)
		},
	},
	{
		name: "configurations deleted", doc: "Somebody deletes every configuration by which API servers ask the checker.",
		begin: func(ctx context.Context, _ *needCell) {
			GinkgoHelper()
			for _, kind := range []client.Object{&validating{}, &mutating{}} {
				Expect(env.Client.DeleteAllOf(ctx, kind, checkers)).To(Succeed())
			}
		},
		expect: func(s *needStage) needExpectation {
			switch s.state {
			case refused, inOpen:
				return needExpectation{never: "its work makes no configuration that is gone"}
			}
			return repaired(s)
		},
	},
	{
		name: "CA emptied", doc: "Somebody takes the CA bundle out of every configuration.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			editAll(ctx, func(hooks *validating) {
				for i := range hooks.Webhooks {
					hooks.Webhooks[i].ClientConfig.CABundle = nil
				}
			})
			c.disturb(ctx)
		},
		expect: func(s *needStage) needExpectation {
			if s.state == refused || s.state == inOpen {
				return needExpectation{never: "its work sets what refuses, and no more"}
			}
			return repaired(s)
		},
	},
	{
		name: "configuration taken", doc: "Somebody puts a configuration of their own in the place of the requirement's.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			eventually(ctx, "the name to be taken", func(ctx context.Context) error {
				mine := &validating{}
				mine.Name = need
				if err := client.IgnoreNotFound(env.Client.Delete(ctx, mine)); err != nil {
					return err
				}
				return env.Client.Create(ctx, mine)
			})
			c.later(func() { freeName(ctx) })
		},
		expect: func(s *needStage) needExpectation {
			e := needExpectation{word: conflicted, to: conflicted, reason: "OwnershipConflict", promise: anything, departs: s.state == harness.Degraded || s.state == arming}
			switch s.state {
			case refused, inOpen:
				return needExpectation{never: "its work makes no configuration that is gone"}
			case conflicted:
				return needExpectation{never: "that is the state"}
			case releasing:
				return needExpectation{word: unnoticed, promise: letsPass, blocked: true}
			case harness.Degraded:
				e.word, e.to, e.reason = unnoticed, "", ""
				e.blocked = true
			}
			return e
		},
	},
	{
		name: "checker killed", doc: "All replicas of the checker are killed, and later there is another one.", quick: true,
		begin: func(_ context.Context, c *needCell) {
			checking.killReplicas()
			c.later(func() { checking.another() })
		},
		expect: func(s *needStage) needExpectation {
			if s.state == inOpen {
				return needExpectation{never: "it is away"}
			}
			return unmoved(s)
		},
	},
	{
		name: "checker killed, for 15 minutes", doc: "All replicas of the checker are killed, and there is another one after more than 15 minutes.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			checking.killReplicas()
			c.later(func() { checking.another() })
			if c.state != releasing {
				outlast(ctx)
			}
		},
		expect: func(s *needStage) needExpectation {
			switch s.state {
			case inOpen:
				return needExpectation{never: "it is away"}
			case releasing:
				return unmoved(s)
			}
			return needExpectation{
				word: inOpen, to: inOpen, reason: "CheckerUnavailable", told: []string{"capstan-webhooks"}, promise: letsPass,
				departs: s.state == harness.Degraded, // armed anew, it has five minutes again
			}
		},
	},
	{
		name: "CRD made anew", doc: "While API servers cannot ask the checker, the CRD is deleted and made anew.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			crd := parsed(boxDefinition(fittingBox))
			was := uidOf(ctx, crd)
			fields := fittingBox
			if c.state == inUnmet {
				fields = lidlessBox
			}
			anew := func() {
				passes(ctx, "the definition to be deleted and made anew", func(ctx context.Context) error {
					if exists(ctx, crd, was) == nil {
						return nil
					}
					if err := client.IgnoreNotFound(env.Client.Delete(ctx, crd.DeepCopy())); err != nil {
						return err
					}
					if err := defineBoxes(ctx, fields); err != nil {
						return err
					}
					return exists(ctx, crd, was) // the old one may still have been there to be defined
				})
			}
			if c.armed {
				past(ctx, anew)
			} else {
				anew()
			}
		},
		expect: func(*needStage) needExpectation { return needExpectation{word: returns} },
	},
	{
		name: "data spoilt", doc: "While API servers cannot ask the checker, the requirement gets data that nobody can use.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			good := boxDefinition(neededBox)
			bad := "{}"
			if c.state == refused {
				good, bad = bad, "[]"
			}
			if c.severed {
				Expect(giveData(ctx, bad)).To(Succeed())
			} else {
				past(ctx, func() { passes(ctx, "bad data to pass", func(ctx context.Context) error { return giveData(ctx, bad) }) })
			}
			c.later(func() {
				write := func() {
					passes(ctx, "good data to pass", func(ctx context.Context) error { return giveData(ctx, good) })
				}
				if c.severed || !strings.HasPrefix(good, "{") {
					write()
				} else {
					past(ctx, write)
				}
			})
		},
		expect: func(s *needStage) needExpectation {
			e := needExpectation{word: refused, to: refused, reason: "ConfigurationError", told: []string{"spec.compatibilitySchema.customResourceDefinition.data"}}
			switch s.state {
			case refused, releasing:
				return unmoved(s)
			case inOpen: // what had to be opened for the edit is armed once the checker is back
				return needExpectation{word: unnoticed, to: inOpen, reason: s.reason, departs: true}
			case harness.Degraded:
				e.departs = true // armed anew, it has five minutes again
			}
			return e
		},
	},
	{
		name: "State forged", doc: "Somebody writes into the requirement's status that its machine is in another state.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			another := inMet
			if c.state == inMet {
				another = inOpen
			}
			forge(ctx, another)
			c.disturb(ctx)
		},
		expect: func(s *needStage) needExpectation {
			switch s.state {
			case inOpen, harness.Degraded:
				return needExpectation{word: arming, to: arming, reason: arming, promise: anything, departs: true}
			}
			return needExpectation{word: returns}
		},
	},
	{
		name: "status emptied", doc: "Somebody empties the conditions of the requirement, and with them its machine's record.",
		begin: func(ctx context.Context, c *needCell) {
			GinkgoHelper()
			o := newNeed()
			Expect(env.Client.Status().Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":null}}`)))).To(Succeed())
			c.disturb(ctx)
		},
		expect: func(s *needStage) needExpectation {
			switch s.state {
			case inOpen, harness.Degraded:
				return needExpectation{word: arming, to: arming, reason: arming, promise: anything, departs: true}
			}
			return needExpectation{word: returns}
		},
	},
}

// editAll changes every validating configuration of the checker that there is.
func editAll(ctx context.Context, change func(*validating)) {
	GinkgoHelper()
	for _, name := range []string{need, "capstan-crds", "capstan-requirements"} {
		eventually(ctx, "editing "+name, func(ctx context.Context) error {
			o := &validating{}
			if err := env.Client.Get(ctx, client.ObjectKey{Name: name}, o); err != nil {
				return client.IgnoreNotFound(err)
			}
			change(o)
			return env.Client.Update(ctx, o)
		})
	}
}

// forge has the requirement's status say that the machine is in another state.
func forge(ctx context.Context, state string) {
	GinkgoHelper()
	eventually(ctx, "the status to be forged", func(ctx context.Context) error {
		v, err := seeNeed(ctx)
		if err != nil {
			return err
		}
		for i, c := range v.Status.Conditions {
			switch c.Type {
			case "State":
				v.Status.Conditions[i].Reason = state
			case "Record":
				var record map[string]any
				if err := json.Unmarshal([]byte(c.Message), &record); err != nil {
					return err
				}
				record["state"] = state
				forged, err := json.Marshal(record)
				if err != nil {
					return err
				}
				v.Status.Conditions[i].Message = string(forged)
			}
		}
		return env.Client.Status().Update(ctx, v.requirement)
	})
}
