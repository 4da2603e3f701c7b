package privatecapi

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/records"
)

var (
	transition = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	entered    = transition.Add(time.Hour)
)

// storedOf is the ConfigMap that a record is kept in.
func storedOf(t *testing.T, key machine.Key, record machine.Record) *corev1.ConfigMap {
	t.Helper()
	c := fake.NewClientBuilder().Build()
	kept := records.NewConfigMaps[guards.Facts, phases.Works](records.Options{Live: c, Writer: c, Clock: clock.RealClock{}, Namespace: operatorNamespace, Name: recordsName})
	if _, err := kept.Save(t.Context(), key, phases.Snapshot{Record: record}); err != nil {
		t.Fatal(err)
	}
	stored := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), kept.ConfigMapOf(key), stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

func TestLook_tells_since_when_the_record_is_so_and_not_the_condition(t *testing.T) {
	for name, row := range map[string]struct {
		record machine.Record
		err    error
		want   time.Time
		text   string
	}{
		"the record of the same object in the same state": {machine.Record{UID: "u", State: guards.Copying, Since: entered}, nil, entered, "Copying since 2026-01-01 13:00:00Z"},
		"that of another state":                           {machine.Record{UID: "u", State: guards.Draining, Since: entered}, nil, time.Time{}, "Copying"},
		"that of another object":                          {machine.Record{UID: "x", State: guards.Copying, Since: entered}, nil, time.Time{}, "Copying"},
		"one that may not be read":                        {machine.Record{}, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", nil), time.Time{}, "Copying"},
	} {
		t.Run(name, func(t *testing.T) {
			key := machine.Key("team-a/example")
			seen, err := look(t.Context(), func(_ context.Context, _ schema.GroupVersionResource, _, namespace, name string, into any) (bool, error) {
				if o, is := into.(*unstructured.Unstructured); is {
					o.SetNamespace(namespace)
					o.SetName(name)
					o.SetUID("u")
					o.Object["status"] = map[string]any{"conditions": []any{map[string]any{
						"type": phases.Condition, "status": "False", "reason": string(guards.Copying), "message": "Copying: 3 of 5", "lastTransitionTime": transition.Format(time.RFC3339),
					}}}
					return true, nil
				}
				if row.err != nil {
					return false, row.err
				}
				stored, is := into.(*corev1.ConfigMap)
				if !is {
					t.Fatalf("asked for a %T", into)
				}
				storedOf(t, key, row.record).DeepCopyInto(stored)
				return true, nil
			}, key)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			if err := seen.Status.Write(&text, entered.Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if !seen.Record.Since.Equal(row.want) || !strings.Contains(text.String(), row.text) || strings.Contains(text.String(), "12:00:00") {
				t.Errorf("since %s:\n%s", seen.Record.Since, text.String())
			}
		})
	}
}

// hostedBy is a getter of one HostedCluster with annotations, whose condition tells a state; nothing else is stored.
func hostedBy(state machine.State, annotations map[string]string) view.Getter {
	return func(_ context.Context, _ schema.GroupVersionResource, _, namespace, name string, into any) (bool, error) {
		o, is := into.(*unstructured.Unstructured)
		if !is {
			return false, nil
		}
		o.SetNamespace(namespace)
		o.SetName(name)
		o.SetAnnotations(annotations)
		o.Object["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": phases.Condition, "status": "False", "reason": string(state), "message": string(state) + ": so", "lastTransitionTime": transition.Format(time.RFC3339),
		}}}
		return true, nil
	}
}

func TestLook_has_an_exit_code_for_each_state_and_for_what_people_have_asked_for(t *testing.T) {
	private, failed := map[string]string{guards.PrivateTypesAnnotation: guards.MarkTrue}, map[string]string{guards.FailedAnnotation: "scale-up-timeout"}
	for name, row := range map[string]struct {
		state       machine.State
		annotations map[string]string
		code        int
	}{
		"it has moved":                         {guards.Private, private, view.CodeDone},
		"it has moved and is to be moved back": {guards.Private, map[string]string{guards.PrivateTypesAnnotation: guards.MarkTrue, guards.RevertAnnotation: ""}, view.CodeOnItsWay},
		"it waits":                             {guards.Eligible, nil, view.CodeOnItsWay},
		"it was moved back":                    {guards.Failed, map[string]string{guards.FailedAnnotation: string(guards.Reverted)}, view.CodeDone},
		"it has failed":                        {guards.Failed, failed, view.CodeLook},
		"it stands still":                      {guards.CommitBlocked, private, view.CodeLook},
	} {
		t.Run(name, func(t *testing.T) {
			seen, err := look(t.Context(), hostedBy(row.state, row.annotations), "clusters/a")
			if err != nil || seen.Status.Code() != row.code {
				t.Errorf("the exit code is %d, %v", seen.Status.Code(), err)
			}
		})
	}
}

func TestInstances_name_a_hosted_cluster_with_its_own_namespace(t *testing.T) {
	if got := instances.Key("team-a", "example"); got != "team-a/example" || !instances.IsKey(got) {
		t.Errorf("the key is %s", got)
	}
}
