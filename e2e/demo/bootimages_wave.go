package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// wave is what following a release took. Requests are those of the operator in kube-apiserver's audit log, and writes those
// among them for boot images, templates and stubs that were accepted.
type wave struct {
	Release  string  `json:"release"`
	Targets  int     `json:"targets"`
	Seconds  float64 `json:"seconds"`
	Requests int     `json:"requests"`
	Writes   int     `json:"writes"`
	// Stubs are how often each Secret was written.
	Stubs map[string]int `json:"stubs"`
}

// follow completes a release, and waits until all sets that follow it have its image.
func (m *moving) follow(ctx context.Context, release, targets int) (err error) {
	image := bootworld.AMI(release)
	m.display.say("\nRelease %s is complete", m.releases[0])
	if m.since, err = m.stage.Cluster.Mark(ctx); err != nil {
		return err
	}
	completed := time.Now()
	if err := m.world.History(ctx, configv1.CompletedUpdate, m.releases...); err != nil {
		return err
	}
	err = m.soon(ctx, fmt.Sprintf("%d sets to have the image of release %s", targets, m.releases[0]), func(ctx context.Context) error {
		progress, err := m.condition(ctx, "Progressing")
		if err != nil {
			return err
		}
		m.display.now(progress.Message)
		if progress.Status != metav1.ConditionFalse {
			return errors.New(progress.Message)
		}
		have, err := m.having(ctx, image)
		if err != nil {
			return err
		}
		return unless(have == targets, fmt.Sprintf("%d have it", have))
	})
	if err != nil {
		return err
	}
	if _, err := m.tellCondition(ctx, "Progressing"); err != nil {
		return err
	}
	return m.count(ctx, completed, targets)
}

// having is how many sets of both APIs have an image.
func (m *moving) having(ctx context.Context, image string) (count int, err error) {
	sets, err := m.list(ctx, m.owned)
	if err != nil {
		return 0, err
	}
	templates, err := m.list(ctx, m.templates[0])
	if err != nil {
		return 0, err
	}
	users, err := m.list(ctx, m.pools[0])
	if err != nil {
		return 0, err
	}
	images := map[any]any{}
	for i := range templates {
		images[templates[i].GetName()] = bootworld.Field(&templates[i], bootworld.TemplateAMI)
	}
	for i := range sets {
		if bootworld.Field(&sets[i], bootworld.AMIID) == image {
			count++
		}
	}
	for i := range users {
		if images[bootworld.Field(&users[i], bootworld.TemplateName)] == image {
			count++
		}
	}
	return count, nil
}

// list is all that is of the kind of an object, in its namespace.
func (m *moving) list(ctx context.Context, like *bootworld.Object) ([]bootworld.Object, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(like.GroupVersionKind())
	list.SetKind(like.GetKind() + "List")
	if err := m.stage.Client.List(ctx, list, client.InNamespace(like.GetNamespace())); err != nil {
		return nil, fmt.Errorf("listing %s of namespace %s: %w", like.GetKind(), like.GetNamespace(), err)
	}
	return list.Items, nil
}

// count tells what following a release took.
func (m *moving) count(ctx context.Context, completed time.Time, targets int) error {
	requests, err := m.requests(ctx)
	if err != nil {
		return err
	}
	writes := bootworld.Writes(requests).Where(func(r cluster.Request) bool { return r.Code < http.StatusMultipleChoices })
	if len(writes) == 0 {
		return fmt.Errorf("%d sets have moved, and the audit log has no write that was accepted", targets)
	}
	w := wave{
		Release: m.releases[0], Targets: targets, Requests: len(requests), Writes: len(writes), Stubs: map[string]int{},
		Seconds: writes[len(writes)-1].Time.Sub(completed).Round(time.Millisecond).Seconds(),
	}
	m.display.step("%d sets have moved in %.1f s, with %d requests of which %d have written images, templates and stubs", w.Targets, w.Seconds, w.Requests, w.Writes)
	for _, secret := range []*bootworld.Object{m.setsStub, m.poolsStub} {
		w.Stubs[secret.GetName()] = len(bootworld.WritesOf(requests, secret))
	}
	m.told.Waves = append(m.told.Waves, w)
	return nil
}

// requests are those of the operator since the last release was completed.
func (m *moving) requests(ctx context.Context) (cluster.RequestList, error) {
	requests, err := m.stage.Cluster.RequestsSince(ctx, m.since)
	return requests.By(harness.UserAgent), err
}

// unwritten tells that nothing was written so far, and why.
func (m *moving) unwritten(ctx context.Context, why string) error {
	requests, err := m.requests(ctx)
	if err != nil {
		return err
	}
	if writes := bootworld.Writes(requests); len(writes) > 0 {
		return fmt.Errorf("%s, and this was written:\n%s", why, writes)
	}
	m.display.step("no image, template or stub is written, since %s", why)
	return nil
}

// tellCloned tells how sets of Cluster API have moved, and that their old templates are as they were.
func (m *moving) tellCloned(ctx context.Context) error {
	for i, set := range m.pools {
		now, err := m.live(ctx, set)
		if err != nil {
			return err
		}
		old, err := m.live(ctx, m.templates[i])
		if err != nil {
			return err
		}
		name, _ := bootworld.Field(now, bootworld.TemplateName).(string)
		clone := bootworld.AWSTemplate(name, "")
		if clone, err = m.live(ctx, clone); err != nil {
			return err
		}
		switch {
		case old.GetResourceVersion() != m.templates[i].GetResourceVersion():
			return fmt.Errorf("AWSMachineTemplate %s was written", old.GetName())
		case !strings.HasPrefix(name, set.GetName()+"-") || clone.GetLabels()[bootworld.CloneOf] != set.GetName():
			return fmt.Errorf("MachineSet %s names AWSMachineTemplate %s, which is no clone of its template", set.GetName(), name)
		}
		if i == 0 {
			m.display.step("MachineSet %s of Cluster API names a clone: %s with %v has become %s with %v", set.GetName(),
				old.GetName(), bootworld.Field(old, bootworld.TemplateAMI), name, bootworld.Field(clone, bootworld.TemplateAMI))
		}
	}
	m.display.step("and so do the others; the %d old templates are unchanged", len(m.templates))
	return nil
}

// condition is one of boot images on the MachineConfiguration.
func (m *moving) condition(ctx context.Context, kind string) (metav1.Condition, error) {
	now, err := m.world.Config(ctx)
	if err != nil {
		return metav1.Condition{}, err
	}
	return conditionOf(now, kind)
}

func conditionOf(config *operatorv1.MachineConfiguration, kind string) (metav1.Condition, error) {
	kind = "BootImageUpdate" + kind
	found := meta.FindStatusCondition(config.Status.Conditions, kind)
	if found == nil {
		return metav1.Condition{}, fmt.Errorf("MachineConfiguration %s has no condition %s", config.Name, kind)
	}
	return *found, nil
}
