package main

import (
	"context"
	"errors"
	"fmt"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	deny = requirementsv1alpha1.CRDAdmitActionDeny
	// checkerUser is the user that the audit log knows the checker by.
	checkerUser = "system:serviceaccount:" + harness.OperatorNamespace + ":" + harness.WebhooksAccount
)

// administrator speaks to the API server as who may do anything.
func (s *stage) administrator() (*bare, error) {
	access := rest.CopyConfig(s.Cluster.Config())
	access.UserAgent = benchUserAgent
	return newBare(access)
}

// checker is the checker's process on a stage, and the Service before it.
type checker struct {
	*harness.Webhooks
	service *harness.Service
}

// checked runs a measurement on a fresh control plane that has definitions, all of them served, but no checker and no operator
// yet.
func (b *bench) checked(ctx context.Context, definitions []map[string]any, measure func(*stage, *bare) error) error {
	return b.within(ctx, func(s *stage) error {
		if err := s.world(ctx, content{}); err != nil {
			return err
		}
		administrator, err := s.administrator()
		if err != nil {
			return err
		}
		for _, d := range definitions {
			if err := administrator.define(ctx, d); err != nil {
				return err
			}
		}
		return measure(s, administrator)
	})
}

// placed prepares a checker for the stage; whoever calls it closes it.
func (s *stage) placed(ctx context.Context) (*checker, error) {
	service, err := s.NewService(ctx)
	if err != nil {
		return nil, err
	}
	webhooks, err := s.NewWebhooks()
	if err != nil {
		return nil, errors.Join(err, service.Close(ctx))
	}
	service.Add(webhooks)
	return &checker{webhooks, service}, nil
}

// close ends the checker, and the Service after it.
func (c *checker) close(ctx context.Context) error {
	return errors.Join(c.Stop(), c.service.Close(context.WithoutCancel(ctx)))
}

// reached waits until the checker is ready and the Service leads to it.
func (c *checker) reached(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return harness.Eventually(ctx, "the checker to be reached", func(ctx context.Context) error {
		if err := c.Ready(ctx); err != nil {
			return err
		}
		return c.service.Leads(ctx)
	})
}

// check starts operator and checker, and waits until each requirement is in force.
func (s *stage) check(ctx context.Context, requirements ...*requirementsv1alpha1.CompatibilityRequirement) (*checker, error) {
	c, err := s.placed(ctx)
	if err != nil {
		return nil, err
	}
	arguments, err := c.service.Arguments()
	if err == nil {
		err = errors.Join(c.Start(), s.operate(arguments...))
	}
	for _, r := range requirements {
		if err == nil {
			err = s.require(ctx, r)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.close(ctx))
	}
	return c, nil
}

// require makes a requirement and waits until it is in force.
func (s *stage) require(ctx context.Context, r *requirementsv1alpha1.CompatibilityRequirement) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := s.Client.Create(ctx, r); err != nil {
		return fmt.Errorf("creating CompatibilityRequirement %s: %w", r.Name, err)
	}
	return harness.Eventually(ctx, "CompatibilityRequirement "+r.Name+" to be in force", func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if admitted := meta.FindStatusCondition(r.Status.Conditions, "Admitted"); admitted == nil || admitted.Status != metav1.ConditionTrue {
			return fmt.Errorf("it says %v", admitted)
		}
		return nil
	})
}

// checkerCosts puts the larger memory of operator and checker into a sample, and the requests of both.
func (s *stage) checkerCosts(c *checker, into *sample, all cluster.RequestList) error {
	if err := s.costs(into, all); err != nil {
		return err
	}
	operator := into.RSSMiB
	checker, err := peakMiB(c.PID())
	if err != nil {
		return err
	}
	used, err := processorSeconds(c.PID())
	if err != nil {
		return err
	}
	s.bench.say("  memory at the peak: %.0f MiB of the operator, %.0f MiB of the checker, whose processor took %.2f s", operator, checker, used)
	into.RSSMiB = max(operator, checker)
	return nil
}

// bothRequests are those of operator and checker since a mark.
func (s *stage) bothRequests(ctx context.Context, since cluster.Mark) (cluster.RequestList, error) {
	all, err := s.Cluster.RequestsSince(ctx, since)
	if err != nil {
		return nil, err
	}
	return all.Where(func(r cluster.Request) bool {
		return (r.User == operatorUser() || r.User == checkerUser) && !r.IsBy(benchUserAgent)
	}), nil
}
