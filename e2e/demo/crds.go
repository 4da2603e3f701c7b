package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// shared is the definition of Cluster API that two parties share: its adopter, who installs and changes it, and a user, who
// needs some of it.
const shared = "clusters.cluster.x-k8s.io"

// The two parties, as field managers.
const (
	adopter = client.FieldOwner("adopter")
	user    = client.FieldOwner("user")
)

// replicas of the checker.
const replicas = 2

// sharing is the part of a demonstration in which a definition is shared.
type sharing struct {
	*demonstration
	service    *harness.Service
	checkers   []*harness.Webhooks
	definition *apiextensionsv1.CustomResourceDefinition
	writes     []written
}

// written is a write that was tried, and how it was answered.
type written struct {
	Write   string `json:"write"`
	Refused bool   `json:"refused"`
	Answer  string `json:"answer,omitempty"`
}

// share has two parties share a definition.
func (d *demonstration) share(ctx context.Context) (err error) {
	versions, err := build(ctx, d.display, d.bin, providers.ReleaseOne)
	if err != nil {
		return err
	}
	built := time.Now()
	s := &sharing{demonstration: d}
	if s.definition, err = rendered(ctx, d.bin, shared); err != nil {
		return err
	}
	if err := d.begin(ctx, "the provider images of release one are"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	for _, act := range []struct {
		what string
		play func(context.Context) error
	}{
		{"waiting for a definition that somebody else installs", func(ctx context.Context) error { return s.await(ctx, versions) }},
		{"keeping to what a user needs", s.need},
		{"going on without the checker", s.goOn},
		{"coming back", s.comeBack},
	} {
		if err := act.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", act.what, err)
		}
	}
	if err := d.operator.Stop(); err != nil {
		return err
	}
	s.tell()
	return save(filepath.Join(d.dir, reportFile), struct {
		State   string    `json:"state"`
		Path    string    `json:"path"`
		Seconds float64   `json:"seconds"`
		Writes  []written `json:"writes"`
	}{d.report.State, pathOf(d.report.Transitions), time.Since(built).Seconds(), s.writes})
}

// await installs release one beside a definition that is left to its adopter, who is late.
func (s *sharing) await(ctx context.Context, versions map[string]string) error {
	references, err := s.stage.Push(ctx, providers.ReleaseOne)
	if err != nil {
		return err
	}
	if err := s.stage.Begin(ctx, harness.World{Platform: platform, Images: references, NoClusterAPI: true}); err != nil {
		return err
	}
	api := &operatorv1alpha1.ClusterAPI{
		ObjectMeta: metav1.ObjectMeta{Name: harness.Singleton},
		Spec:       &operatorv1alpha1.ClusterAPISpec{UnmanagedCustomResourceDefinitions: []string{shared}},
	}
	if err := s.stage.Client.Create(ctx, api, harness.Administrator); err != nil {
		return fmt.Errorf("creating ClusterAPI %s: %w", api.Name, err)
	}
	s.display.say("\nInstalling release one on platform %s: %s,\nwithout CustomResourceDefinition %s, which is somebody else's", platform, listed(versions), shared)
	if s.service, err = s.stage.NewService(ctx); err != nil {
		return err
	}
	for range replicas {
		if err := s.check(); err != nil {
			return err
		}
	}
	flags, err := s.service.Arguments()
	if err != nil {
		return err
	}
	s.follower = &follower{reader: s.stage.Client, display: s.display, images: len(references), objects: map[int64]int{}}
	if s.operator, err = s.stage.StartOperator(harness.OperatorOptions{LeaderElect: true, Arguments: flags}); err != nil {
		return err
	}
	ctx, cancel := s.operator.Context(ctx)
	defer cancel()
	if err := s.follower.awaiting(ctx); err != nil {
		return err
	}
	if err := s.stage.Client.Create(ctx, s.definition.DeepCopy(), adopter); err != nil {
		return fmt.Errorf("creating CustomResourceDefinition %s: %w", shared, err)
	}
	s.display.step("its adopter installs it")
	v, err := s.follower.until(ctx, 1)
	if err != nil {
		return err
	}
	s.report.take(v, s.follower.path)
	s.display.step("revision %s is installed", v.Current())
	return s.untouched(ctx)
}

// untouched says that nothing of the shared definition is Capstan's.
func (s *sharing) untouched(ctx context.Context) error {
	live, err := s.live(ctx)
	if err != nil {
		return err
	}
	for _, entry := range live.ManagedFields {
		if entry.Manager == harness.UserAgent {
			return fmt.Errorf("CustomResourceDefinition %s has fields of Capstan: %s", shared, entry.FieldsV1)
		}
	}
	s.display.step("no field of it is Capstan's")
	return nil
}

// check starts one more replica of the checker.
func (s *sharing) check() error {
	replica, err := s.stage.NewWebhooks()
	if err != nil {
		return err
	}
	if err := replica.Start(); err != nil {
		return err
	}
	s.checkers = append(s.checkers, replica)
	s.service.Add(replica)
	return nil
}

// close ends the checker before the cluster ends.
func (s *sharing) close(ctx context.Context) error {
	var problems []error
	for _, replica := range s.checkers {
		problems = append(problems, replica.Stop())
	}
	if s.service != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		problems = append(problems, s.service.Close(ctx))
	}
	return errors.Join(problems...)
}

func (s *sharing) live(ctx context.Context) (*apiextensionsv1.CustomResourceDefinition, error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := s.stage.Client.Get(ctx, types.NamespacedName{Name: shared}, live); err != nil {
		return nil, fmt.Errorf("reading CustomResourceDefinition %s: %w", shared, err)
	}
	return live, nil
}
