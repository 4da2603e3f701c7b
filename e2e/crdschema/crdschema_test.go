// Package crdschema_test asks phases/crdschema/judge and an API server the same: what it says of an object, were a definition
// installed, and what the API server says of it in a dry run where it is. It calls what it tests in process, since only the
// answers of the library itself can be compared word by word; some of the objects go through the checker's own process, too.
package crdschema_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/phases/crdschema/judge"
)

const (
	binaries = "../../bin/controlplane"
	// stored is how many objects are there when judged is installed, and creations and updates how many dry runs are made.
	stored, creations, updates = 60, 120, 180
)

// transitions are the messages of rules that compare with what was.
var transitions = []string{"fixed stays", "it only grows", "born new", "failed rule: self == oldSelf", "failed rule: self >= oldSelf"}

var resource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "judged"}

func TestTheJudgeSaysWhatTheAPIServerSays(t *testing.T) {
	controlPlane, err := cluster.Start(t.Context(), cluster.Options{Binaries: binaries, CRDs: append(read(), definition(t, lenient))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := controlPlane.Stop(); err != nil {
			t.Error(err)
		}
	})
	config := controlPlane.Config()
	config.QPS, config.Burst = -1, 0
	warned := &warnings{}
	config.WarningHandlerWithContext = warned
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	c := comparison{client: client.Resource(resource).Namespace("default"), judge: compiled(t), warned: warned, answers: map[string]int{}}
	olds := c.store(t)
	began := time.Now()
	through := serve(t, controlPlane).ask(t, c, olds)
	took := time.Since(began)
	c.install(t, config)
	for i := range creations {
		c.create(t, creation(t, i))
	}
	for i := range updates {
		if object, old, subresource := change(t, i, olds); subresource == judge.Status {
			c.updateStatus(t, object, old)
		} else {
			c.update(t, object, old)
		}
	}
	began = time.Now()
	through.compare(t, c, olds)
	t.Logf("the endpoint takes %s", took+time.Since(began))
	t.Logf("taken: %d, refused: %d, by rules of oldSelf: %d", c.answers["taken"], c.answers["refused"], c.answers["by oldSelf"])
	for _, answer := range []string{"taken", "refused", "by oldSelf"} {
		if c.answers[answer] < (creations+updates)/30 {
			t.Errorf("only %d were %s: the objects show little", c.answers[answer], answer)
		}
	}
}

// creation is one of the objects that are created.
func creation(t *testing.T, i int) *unstructured.Unstructured {
	t.Helper()
	return generate(t, uint64(1000+i)).object("new") //nolint:gosec // it is small
}

// change is one of the changes of what is stored, and whether it is one of the status.
func change(t *testing.T, i int, olds []*unstructured.Unstructured) (object, old *unstructured.Unstructured, subresource string) {
	t.Helper()
	old = olds[i%len(olds)]
	if i%3 == 2 {
		subresource = judge.Status
	}
	return generate(t, uint64(2000+i)).changed(old), old, subresource //nolint:gosec // it is small
}

// comparison asks both, and tells of what differs.
type comparison struct {
	client  dynamic.ResourceInterface
	judge   *judge.Judge
	warned  *warnings
	answers map[string]int // by what they were
}

// store puts objects into the cluster while anything goes.
func (c comparison) store(t *testing.T) (olds []*unstructured.Unstructured) {
	t.Helper()
	for i := range stored {
		object := generate(t, uint64(i)).object(fmt.Sprintf("old-%d", i))
		created, err := c.client.Create(t.Context(), object, metav1.CreateOptions{})
		if err != nil {
			continue // such as a spec that is a text: replicas are not in it
		}
		created.Object["status"] = object.Object["status"]
		if with, err := c.client.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err == nil {
			created = with
		} else if created, err = c.client.Get(t.Context(), created.GetName(), metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		olds = append(olds, created)
	}
	if len(olds) < stored/2 {
		t.Fatalf("only %d objects are stored", len(olds))
	}
	return olds
}

// install replaces lenient by judged, and waits for the API server to judge by it.
func (c comparison) install(t *testing.T, config *rest.Config) {
	t.Helper()
	client, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.ApiextensionsV1().CustomResourceDefinitions()
	lenient, err := definitions.Get(t.Context(), "judged.example.com", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lenient.Spec.Versions = definition(t, judged).Spec.Versions
	if _, err := definitions.Update(t.Context(), lenient, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	bad := generate(t, 0).object("bad")
	bad.Object["spec"] = map[string]any{"size": "xl"}
	err = wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		_, err := c.client.Create(ctx, bad, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return apierrors.IsInvalid(err), nil
	})
	if err != nil {
		t.Fatal("the definition is not in force", err)
	}
}

func (c comparison) create(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	c.warned.reset()
	_, err := c.client.Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationWarn})
	c.same(t, "creating", object, nil, c.judge.Validate(t.Context(), object, nil, ""), err)
	if err == nil {
		c.samePruned(t, object)
	}
}

func (c comparison) update(t *testing.T, object, old *unstructured.Unstructured) {
	t.Helper()
	_, err := c.client.Update(t.Context(), object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	c.same(t, "updating", object, old, c.judge.Validate(t.Context(), object, old, ""), err)
}

func (c comparison) updateStatus(t *testing.T, object, old *unstructured.Unstructured) {
	t.Helper()
	_, err := c.client.UpdateStatus(t.Context(), object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
	c.same(t, "updating the status of", object, old, c.judge.Validate(t.Context(), object, old, judge.Status), err)
}

// same compares problems one by one. What the API server cannot even decode is a bad request: the judge refuses it, too.
func (c comparison) same(t *testing.T, verb string, object, old *unstructured.Unstructured, problems field.ErrorList, err error) {
	t.Helper()
	if err == nil {
		c.answers["taken"]++
	} else {
		c.answers["refused"]++
	}
	if err != nil && slices.ContainsFunc(transitions, func(text string) bool { return strings.Contains(err.Error(), text) }) {
		c.answers["by oldSelf"]++
	}
	var got []string
	for _, problem := range problems {
		got = append(got, problem.Field+": "+problem.ErrorBody())
	}
	if apierrors.IsBadRequest(err) && len(problems) > 0 {
		return
	}
	slices.Sort(got)
	want := causes(err)
	if !slices.Equal(slices.Compact(got), want) {
		t.Errorf("%s %v\nwhich was %v\nthe judge says\n\t%s\nthe API server says\n\t%s", verb, object, old, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// causes are what an API server refuses, each with its field, sorted. What holds for metadata of all kinds it says once more before an
// update.
func causes(err error) (all []string) {
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &status) && apierrors.IsInvalid(err) && status.Status().Details != nil:
		for _, cause := range status.Status().Details.Causes {
			all = append(all, cause.Field+": "+cause.Message)
		}
	case err != nil:
		all = append(all, err.Error())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// samePruned compares what the judge prunes with what the API server warns of. It looks into the status, and into metadata of
// embedded resources, which are not the judge's to prune.
func (c comparison) samePruned(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	var want []string
	for _, text := range c.warned.all() {
		path, ok := strings.CutPrefix(text, "unknown field ")
		if path = strings.Trim(path, `"`); ok && !strings.HasPrefix(path, "status.") && !strings.Contains(path, ".metadata.") {
			want = append(want, path)
		}
	}
	got := c.judge.Prune(object.DeepCopy().Object, nil, nil, "")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("of %v\nthe judge prunes %q\nthe API server %q", object, got, want)
	}
}

// warnings are those of the last request.
type warnings struct {
	mu    sync.Mutex
	texts []string
}

var _ rest.WarningHandlerWithContext = &warnings{}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == http.StatusOK || code == 299 {
		w.texts = append(w.texts, text)
	}
}

func (w *warnings) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = nil
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.texts)
}
