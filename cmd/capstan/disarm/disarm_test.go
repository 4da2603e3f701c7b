package disarm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	k8stesting "k8s.io/client-go/testing"

	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

var validating = admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations")

func configuration(kind, name, label string, policies ...string) *unstructured.Unstructured {
	var webhooks []any
	for i, policy := range policies {
		webhooks = append(webhooks, map[string]any{"name": fmt.Sprintf("%d.test", i), "failurePolicy": policy})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "webhooks": webhooks,
		"metadata": map[string]any{"name": name, "resourceVersion": "7", "labels": map[string]any{"capstan.openshift.io/checker": label}},
	}}
}

// unlabelled has webhooks of these names, all of which refuse.
func unlabelled(name string, names ...string) *unstructured.Unstructured {
	c := configuration("ValidatingWebhookConfiguration", name, "", make([]string, len(names))...)
	c.SetLabels(nil)
	var webhooks []any
	for _, name := range names {
		webhooks = append(webhooks, map[string]any{"name": name, "failurePolicy": "Fail"})
	}
	c.Object["webhooks"] = webhooks
	return c
}

func cluster(objects ...runtime.Object) (*Cluster, *fake.FakeDynamicClient) {
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{
		validating: "ValidatingWebhookConfigurationList",
		admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"): "MutatingWebhookConfigurationList",
	}, objects...)
	return &Cluster{dynamic: client}, client
}

func policies(t *testing.T, client dynamic.Interface, name string) string {
	t.Helper()
	object, err := client.Resource(validating).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, webhook := range webhooks(object) {
		all = append(all, fmt.Sprint(webhook["failurePolicy"]))
	}
	return strings.Join(all, " ")
}

func TestDisarm_sets_every_entry_of_the_checker_to_Ignore_and_no_other(t *testing.T) {
	c, client := cluster(
		configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail", "Ignore", "Fail"),
		configuration("ValidatingWebhookConfiguration", "theirs", "no", "Fail"),
		configuration("MutatingWebhookConfiguration", "need", "true", "Fail"),
		unlabelled("stripped", "objects.capstan.openshift.io"),
		unlabelled("mixed", "objects.capstan.openshift.io", "theirs.example.com"),
	)
	plan, err := c.Disarm(t.Context(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := policies(t, client, "stripped") + policies(t, client, "mixed"); got != "IgnoreFail Fail" {
		t.Errorf("of those without the label they are %s", got)
	}
	if len(plan.Entries) != 4 || plan.Ignored != 1 || !plan.Done {
		t.Errorf("%+v", plan)
	}
	if got := policies(t, client, "capstan-crds"); got != "Ignore Ignore Ignore" {
		t.Errorf("the checker's are %s", got)
	}
	if got := policies(t, client, "theirs"); got != "Fail" {
		t.Errorf("a foreign one is %s", got)
	}
	again, err := c.Disarm(t.Context(), true, nil)
	if err != nil || len(again.Entries) != 0 || again.Ignored != 5 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
}

func TestDisarm_without_act_changes_nothing(t *testing.T) {
	c, client := cluster(configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail"))
	plan, err := c.Disarm(t.Context(), false, nil)
	if err != nil || len(plan.Entries) != 1 || plan.Done || policies(t, client, "capstan-crds") != "Fail" {
		t.Errorf("%+v, %v", plan, err)
	}
	var text bytes.Buffer
	if err := plan.Write(&text); err != nil || !strings.Contains(text.String(), "webhook 0.test, is to be set to Ignore") {
		t.Errorf("%q, %v", text.String(), err)
	}
}

func TestDisarm_goes_on_when_a_configuration_was_written_or_deleted_meanwhile(t *testing.T) {
	c, client := cluster(configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail"))
	conflicts := 1
	client.PrependReactor("patch", "*", func(k8stesting.Action) (bool, runtime.Object, error) {
		conflicts--
		return conflicts >= 0, nil, apierrors.NewConflict(validating.GroupResource(), "capstan-crds", errors.New("written"))
	})
	if _, err := c.Disarm(t.Context(), true, nil); err != nil || policies(t, client, "capstan-crds") != "Ignore" {
		t.Errorf("written meanwhile: %v", err)
	}
	gone, client := cluster(configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail"))
	client.PrependReactor("patch", "*", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(validating.GroupResource(), "capstan-crds")
	})
	if _, err := gone.Disarm(context.Background(), true, nil); err != nil {
		t.Errorf("deleted meanwhile: %v", err)
	}
}

func TestDisarm_goes_on_when_a_configuration_cannot_be_written_and_names_each(t *testing.T) {
	c, client := cluster(
		configuration("ValidatingWebhookConfiguration", "a", "true", "Fail"),
		configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail"),
		configuration("ValidatingWebhookConfiguration", "z", "true", "Fail"),
	)
	client.PrependReactor("patch", "*", func(action k8stesting.Action) (bool, runtime.Object, error) {
		name := action.(k8stesting.PatchAction).GetName()
		return name != "capstan-crds", nil, apierrors.NewForbidden(validating.GroupResource(), name, errors.New("somebody's policy"))
	})
	client.PrependReactor("list", "mutatingwebhookconfigurations", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("they cannot be listed")
	})
	plan, err := c.Disarm(t.Context(), true, nil)
	if err == nil {
		t.Fatal("it tells of no error")
	}
	for _, name := range []string{"ValidatingWebhookConfiguration a", "ValidatingWebhookConfiguration z", "mutatingwebhookconfigurations"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("it does not name %s: %v", name, err)
		}
	}
	if policies(t, client, "capstan-crds") != "Ignore" || len(plan.Entries) != 1 || plan.Entries[0].Configuration != "capstan-crds" {
		t.Errorf("%+v", plan)
	}
}

func TestDisarm_marks_until_when_nothing_is_armed_and_takes_the_mark_off(t *testing.T) {
	marked := configuration("ValidatingWebhookConfiguration", "marked", "true", "Ignore")
	marked.SetAnnotations(map[string]string{"theirs": "stays"})
	c, client := cluster(configuration("ValidatingWebhookConfiguration", "capstan-crds", "true", "Fail"), marked, configuration("ValidatingWebhookConfiguration", "theirs", "no", "Fail"))
	marks := func() string {
		t.Helper()
		var all []string
		for _, name := range []string{"capstan-crds", "marked", "theirs"} {
			object, err := client.Resource(validating).Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(object.GetAnnotations()))
		}
		return strings.Join(all, " ")
	}
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	mark := until.Format(time.RFC3339)
	held := "map[capstan.openshift.io/disarmed-until:" + mark + "] map[capstan.openshift.io/disarmed-until:" + mark + " theirs:stays] map[]"
	if plan, err := c.Disarm(t.Context(), true, &until); err != nil || !plan.Until.Equal(until) {
		t.Fatal(plan, err)
	}
	if got := marks(); got != held {
		t.Errorf("marked are %s", got)
	}
	if plan, err := c.Disarm(t.Context(), true, nil); err != nil || !plan.Until.Equal(until) {
		t.Fatal(plan, err)
	}
	if got := marks(); got != held {
		t.Errorf("whoever says nothing of a time makes of that of another one: %s", got)
	}
	if plan, err := c.Disarm(t.Context(), true, &time.Time{}); err != nil || !plan.Until.IsZero() {
		t.Fatal(plan, err)
	}
	if got := marks(); got != "map[] map[theirs:stays] map[]" {
		t.Errorf("after its end: %s", got)
	}
}

func TestLabel_is_what_the_operator_reads(t *testing.T) {
	if Label != phases.CheckerLabel {
		t.Errorf("it reads what has label %s", phases.CheckerLabel)
	}
}
