package protobuf

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	openapi "github.com/google/gnostic-models/openapiv2"
	openapi3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/reflect/protoreflect"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	admissionregistrationv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	authorizationv1 "k8s.io/api/authorization/v1"
	authorizationv1beta1 "k8s.io/api/authorization/v1beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// unknown is the envelope, with what is only read of it.
var unknown = fields(
	sub(unknownTypeMeta, "typeMeta", fields(text(typeMetaAPIVersion, "apiVersion", rootVersion), text(typeMetaKind, "kind", prose))),
	text(unknownRaw, "raw", embedded),
	text(unknownContentEncoding, "contentEncoding", prose),
	text(unknownContentType, "contentType", prose),
)

// Every version of every kind of the side table, and what is read of all.
var typesOfSchemas = []struct {
	kind   string
	schema *message
	of     any
}{
	{"Unknown", unknown, runtime.Unknown{}},
	{"WatchEvent", watchEvent, metav1.WatchEvent{}},
	{"Status", status, metav1.Status{}},
	{"PartialObjectMetadata", anyObject, metav1.PartialObjectMetadata{}},
	{"PartialObjectMetadataList", fields(sub(2, "items", anyObject)), metav1.PartialObjectMetadataList{}},
	{"PodList", fields(sub(2, "items", anyObject)), corev1.PodList{}},
	{"CustomResourceDefinition v1", customResourceDefinition, apiextensionsv1.CustomResourceDefinition{}},
	{"CustomResourceDefinition v1beta1", customResourceDefinition, apiextensionsv1beta1.CustomResourceDefinition{}},
	{"SelfSubjectAccessReview v1", accessReview, authorizationv1.SelfSubjectAccessReview{}},
	{"SelfSubjectAccessReview v1beta1", accessReview, authorizationv1beta1.SelfSubjectAccessReview{}},
	{"SubjectAccessReview v1", accessReview, authorizationv1.SubjectAccessReview{}},
	{"SubjectAccessReview v1beta1", accessReview, authorizationv1beta1.SubjectAccessReview{}},
	{"LocalSubjectAccessReview v1", accessReview, authorizationv1.LocalSubjectAccessReview{}},
	{"LocalSubjectAccessReview v1beta1", accessReview, authorizationv1beta1.LocalSubjectAccessReview{}},
	{"SelfSubjectRulesReview v1", rulesReview, authorizationv1.SelfSubjectRulesReview{}},
	{"SelfSubjectRulesReview v1beta1", rulesReview, authorizationv1beta1.SelfSubjectRulesReview{}},
	{"ValidatingWebhookConfiguration v1", webhookConfiguration, admissionregistrationv1.ValidatingWebhookConfiguration{}},
	{"ValidatingWebhookConfiguration v1beta1", webhookConfiguration, admissionregistrationv1beta1.ValidatingWebhookConfiguration{}},
	{"MutatingWebhookConfiguration v1", webhookConfiguration, admissionregistrationv1.MutatingWebhookConfiguration{}},
	{"MutatingWebhookConfiguration v1beta1", webhookConfiguration, admissionregistrationv1beta1.MutatingWebhookConfiguration{}},
	{"ValidatingAdmissionPolicy v1", admissionPolicy, admissionregistrationv1.ValidatingAdmissionPolicy{}},
	{"ValidatingAdmissionPolicy v1beta1", admissionPolicy, admissionregistrationv1beta1.ValidatingAdmissionPolicy{}},
	{"ValidatingAdmissionPolicy v1alpha1", admissionPolicy, admissionregistrationv1alpha1.ValidatingAdmissionPolicy{}},
	{"MutatingAdmissionPolicy v1", admissionPolicy, admissionregistrationv1.MutatingAdmissionPolicy{}},
	{"MutatingAdmissionPolicy v1beta1", admissionPolicy, admissionregistrationv1beta1.MutatingAdmissionPolicy{}},
	{"MutatingAdmissionPolicy v1alpha1", admissionPolicy, admissionregistrationv1alpha1.MutatingAdmissionPolicy{}},
	{"ValidatingAdmissionPolicyBinding v1", policyBinding, admissionregistrationv1.ValidatingAdmissionPolicyBinding{}},
	{"ValidatingAdmissionPolicyBinding v1beta1", policyBinding, admissionregistrationv1beta1.ValidatingAdmissionPolicyBinding{}},
	{"ValidatingAdmissionPolicyBinding v1alpha1", policyBinding, admissionregistrationv1alpha1.ValidatingAdmissionPolicyBinding{}},
	{"MutatingAdmissionPolicyBinding v1", policyBinding, admissionregistrationv1.MutatingAdmissionPolicyBinding{}},
	{"MutatingAdmissionPolicyBinding v1beta1", policyBinding, admissionregistrationv1beta1.MutatingAdmissionPolicyBinding{}},
	{"MutatingAdmissionPolicyBinding v1alpha1", policyBinding, admissionregistrationv1alpha1.MutatingAdmissionPolicyBinding{}},
	{"Event core", coreEvent, corev1.Event{}},
	{"Event v1", newEvent, eventsv1.Event{}},
	{"Event v1beta1", newEvent, eventsv1beta1.Event{}},
	{"HorizontalPodAutoscaler v1", autoscaler, autoscalingv1.HorizontalPodAutoscaler{}},
	{"HorizontalPodAutoscaler v2", autoscaler, autoscalingv2.HorizontalPodAutoscaler{}},
}

func TestFieldNumbers_are_those_of_the_struct_tags(t *testing.T) {
	for _, tt := range typesOfSchemas {
		t.Run(tt.kind, func(t *testing.T) { compare(t, tt.schema, reflect.TypeOf(tt.of)) })
	}
}

// compare holds each field of a message against the one of that number in the type, by its name there.
func compare(t *testing.T, m *message, of reflect.Type) {
	t.Helper()
	for of.Kind() != reflect.Struct {
		of = of.Elem()
	}
	for _, known := range m.fields {
		found := false
		for i := range of.NumField() {
			tag := strings.Split(of.Field(i).Tag.Get("protobuf"), ",")
			if len(tag) < 2 || tag[1] != strconv.Itoa(int(known.number)) {
				continue
			}
			found = true
			if tag[0] != "bytes" || !strings.EqualFold(strings.TrimPrefix(tag[3], "name="), known.name) {
				t.Errorf("field %d of %s is %v, not %s", known.number, of, tag, known.name)
			}
			if known.of != nil {
				compare(t, known.of, of.Field(i).Type)
			}
		}
		if !found {
			t.Errorf("%s has no field %d, which is to be %s", of, known.number, known.name)
		}
	}
}

func TestFieldNumbers_of_OpenAPI_are_those_of_its_descriptors(t *testing.T) {
	seen := map[*message]bool{}
	var compare func(m *message, of protoreflect.MessageDescriptor)
	compare = func(m *message, of protoreflect.MessageDescriptor) {
		if seen[m] {
			return
		}
		seen[m] = true
		for _, known := range m.fields {
			found := of.Fields().ByNumber(known.number)
			if found == nil || string(found.Name()) != known.name {
				t.Errorf("field %d of %s is %v, not %s", known.number, of.FullName(), found, known.name)
				continue
			}
			if known.of != nil {
				compare(known.of, found.Message())
			}
		}
	}
	compare(documentV2, (&openapi.Document{}).ProtoReflect().Descriptor())
	compare(documentV3, (&openapi3.Document{}).ProtoReflect().Descriptor())
}

// Every kind of the side table is compared with at least one type.
func TestFieldNumbers_are_compared_for_every_kind_of_the_side_table(t *testing.T) {
	for of, schema := range sideTable {
		found := false
		for _, tt := range typesOfSchemas {
			found = found || tt.schema == schema && strings.HasPrefix(tt.kind, of.kind+" ")
		}
		if !found {
			t.Errorf("no type stands for %v", of)
		}
	}
}
