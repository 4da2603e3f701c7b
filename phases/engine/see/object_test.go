package see

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest/objects"
	"github.com/capstan-capi/capstan/phases/wire"
)

func TestObserved_is_the_same_from_a_watch_and_from_the_answer_to_a_write(t *testing.T) {
	for name, s := range objects.Samples(t) {
		text, err := json.Marshal(s.Applied.Object)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := observe(text)
		if err != nil {
			t.Fatal(err)
		}
		written := ObjectFrom(s.Applied)
		if seen.UID == "" || seen.UID != written.UID || seen.ResourceVersion != written.ResourceVersion || seen.Generation != written.Generation ||
			!reflect.DeepEqual(seen.Labels, written.Labels) || !reflect.DeepEqual(seen.Annotations, written.Annotations) {
			t.Errorf("%s: %+v and %+v", name, seen.ObjectMeta, written.ObjectMeta)
		}
		if len(seen.ManagedFields) > 0 || seen.Annotations[decide.RevisionAnnotation] == "" || seen.Labels[decide.ManagedByLabel] == "" {
			t.Errorf("%s: keeps %+v", name, seen.ObjectMeta)
		}
		for _, o := range []*Object{seen, written} {
			if !reflect.DeepEqual(o.Tree(decide.KeyOf(s.Manifest).GVK()), s.Applied) {
				t.Errorf("%s: it is another object when it is unpacked", name)
			}
		}
	}
}

func TestObserved_has_the_same_shape_while_nothing_but_the_status_changes(t *testing.T) {
	for name, s := range objects.Samples(t) {
		shape := ObjectFrom(s.Applied).SpecHash
		controlled := s.Applied.DeepCopy()
		controlled.SetResourceVersion("123456")
		controlled.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}
		controlled.SetManagedFields(append(controlled.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: "controller", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{}}}`),
		}))
		if ObjectFrom(controlled).SpecHash != shape {
			t.Errorf("%s: a new status looks like another object", name)
		}
		for what, change := range map[string]func(*unstructured.Unstructured){
			"an edit":            func(o *unstructured.Unstructured) { o.Object = s.Edited.Object },
			"another label":      func(o *unstructured.Unstructured) { o.SetLabels(map[string]string{"a": "b"}) },
			"a finalizer":        func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"a/b"}) },
			"another object":     func(o *unstructured.Unstructured) { o.SetUID("other") },
			"a field of its own": func(o *unstructured.Unstructured) { o.Object["other"] = "field" },
			"a manager more": func(o *unstructured.Unstructured) {
				o.SetManagedFields(append(o.GetManagedFields(), metav1.ManagedFieldsEntry{
					Manager: "scaler", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale", FieldsType: "FieldsV1",
					FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
				}))
			},
		} {
			changed := s.Applied.DeepCopy()
			if change(changed); ObjectFrom(changed).SpecHash == shape {
				t.Errorf("%s: %s goes unnoticed", name, what)
			}
		}
	}
}

func TestObserved_probes_answer_the_same_from_what_is_probed(t *testing.T) {
	for name, s := range objects.Samples(t) {
		for stage, object := range map[string]*unstructured.Unstructured{"created": s.Created, "applied": s.Applied, "edited": s.Edited} {
			m := decide.Component{Objects: []*unstructured.Unstructured{s.Manifest}}.Manifests()[0]
			whole, part := m.Gate(object), m.Gate(ObjectFrom(object).Probed(m))
			if whole != part {
				t.Errorf("%s, %s: %+v, and from what is probed %+v", name, stage, whole, part)
			}
		}
	}
}

func TestObserve_refuses_what_is_no_object(t *testing.T) {
	for _, text := range []string{"", "no JSON", `"text"`, `[{}]`, "null", `{"metadata":{"deletionTimestamp":"yesterday"}}`} {
		if o, err := observe([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, o)
		}
	}
}

func TestObserver_reads_lists_and_errors(t *testing.T) {
	items := `{"metadata":{"name":"a","resourceVersion":"3"},"data":{"k":"v"}},{"metadata":{"name":"b","resourceVersion":"4"}}`
	got, _, err := observer{}.Decode([]byte(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[`+items+`]}`), nil, nil)
	list, isList := got.(*objectList)
	if err != nil || !isList || list.ResourceVersion != "9" || len(list.Items) != 2 || list.Items[1].Name != "b" {
		t.Fatalf("%+v, %v", got, err)
	}
	if obj := list.Items[0].Tree(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}); obj.GetKind() != "ConfigMap" || fmt.Sprint(obj.Object["data"]) != "map[k:v]" {
		t.Errorf("%v", obj)
	}
	got, _, err = observer{}.Decode([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410,"message":"old"}`), nil, nil)
	status, isStatus := got.(*metav1.Status)
	if err != nil || !isStatus || !apierrors.IsResourceExpired(&apierrors.StatusError{ErrStatus: *status}) {
		t.Errorf("%+v, %v", got, err)
	}
	var syntax *json.SyntaxError
	if _, _, err = (observer{}).Decode([]byte(`{"kind":`), nil, nil); !errors.As(err, &syntax) {
		t.Errorf("half an object: %v", err)
	}
}

func TestEnvelopes_an_object_stays_what_it_was_when_the_stream_reads_on(t *testing.T) {
	text := []byte(`{"type":"MODIFIED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"capi-operator.openshift.io/managed-by":"core"}},"data":{"key":"value"}}}` + "\n")
	event := &metav1.WatchEvent{}
	if _, _, err := (wire.Envelopes{}).Decode(text, nil, event); err != nil {
		t.Fatal(err)
	}
	decoded, _, err := observer{}.Decode(event.Object.Raw, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		text[i] = '#'
	}
	o, isObject := decoded.(*Object)
	if !isObject || event.Type != "MODIFIED" || o.Name != "a" || o.Namespace != "n" || o.UID != "u" || o.ResourceVersion != "7" || o.Labels[decide.ManagedByLabel] != "core" {
		t.Fatalf("%s %+v", event.Type, decoded)
	}
	if got, _, _ := unstructured.NestedString(o.Tree(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}).Object, "data", "key"); got != "value" {
		t.Errorf("got %q", got)
	}
}
