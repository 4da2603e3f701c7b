package protobuf

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"sigs.k8s.io/randfill"
)

// typedCase is a kind, and its places as the typed object has them.
type typedCase struct {
	kind      schema.GroupVersionKind
	empty     func() runtime.Object
	translate func(runtime.Object, *Texts)
}

func groupsOf(texts *Texts, list []string) {
	for i := range list {
		list[i] = texts.Group(list[i])
	}
}

func rulesOf(texts *Texts, list []admissionregistrationv1.RuleWithOperations) {
	for i := range list {
		groupsOf(texts, list[i].APIGroups)
	}
}

func matchOf(texts *Texts, match *admissionregistrationv1.MatchResources) {
	if match == nil {
		return
	}
	for _, list := range [][]admissionregistrationv1.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range list {
			groupsOf(texts, list[i].APIGroups)
		}
	}
}

func translateAttributes(texts *Texts, attributes *authorizationv1.ResourceAttributes) {
	if attributes != nil {
		attributes.Group = texts.Group(attributes.Group)
	}
}

func referenceOf(texts *Texts, reference *corev1.ObjectReference) {
	if reference != nil {
		reference.APIVersion = texts.GroupVersion(reference.APIVersion)
	}
}

func metadataOf(texts *Texts, object metav1.Object) {
	owners := object.GetOwnerReferences()
	for i := range owners {
		owners[i].APIVersion = texts.GroupVersion(owners[i].APIVersion)
	}
	object.SetOwnerReferences(owners)
	entries := object.GetManagedFields()
	for i := range entries {
		entries[i].APIVersion = texts.GroupVersion(entries[i].APIVersion)
	}
	object.SetManagedFields(entries)
}

func of[T any](gv schema.GroupVersion, kind string, translate func(*T, *Texts)) typedCase {
	return typedCase{
		kind:  gv.WithKind(kind),
		empty: func() runtime.Object { return any(new(T)).(runtime.Object) },
		translate: func(object runtime.Object, texts *Texts) {
			if accessor, err := meta.Accessor(object); err == nil {
				metadataOf(texts, accessor)
			}
			translate(any(object).(*T), texts)
		},
	}
}

func typedCases() []typedCase {
	authorization, admission := authorizationv1.SchemeGroupVersion, admissionregistrationv1.SchemeGroupVersion
	return []typedCase{
		of(corev1.SchemeGroupVersion, "Secret", func(*corev1.Secret, *Texts) {}),
		of(corev1.SchemeGroupVersion, "ConfigMapList", func(o *corev1.ConfigMapList, texts *Texts) {
			for i := range o.Items {
				metadataOf(texts, &o.Items[i])
			}
		}),
		of(metav1.SchemeGroupVersion, "PartialObjectMetadata", func(*metav1.PartialObjectMetadata, *Texts) {}),
		of(metav1.SchemeGroupVersion, "PartialObjectMetadataList", func(o *metav1.PartialObjectMetadataList, texts *Texts) {
			for i := range o.Items {
				metadataOf(texts, &o.Items[i])
			}
		}),
		of(schema.GroupVersion{Version: "v1"}, "Status", func(o *metav1.Status, texts *Texts) {
			o.Message = texts.Prose(o.Message)
			if o.Details != nil {
				o.Details.Group = texts.Group(o.Details.Group)
				for i := range o.Details.Causes {
					o.Details.Causes[i].Message = texts.Prose(o.Details.Causes[i].Message)
				}
			}
		}),
		of(apiextensionsv1.SchemeGroupVersion, "CustomResourceDefinition", func(o *apiextensionsv1.CustomResourceDefinition, texts *Texts) {
			o.Name, o.Spec.Group = texts.Name(o.Name), texts.Group(o.Spec.Group)
		}),
		of(authorization, "SubjectAccessReview", func(o *authorizationv1.SubjectAccessReview, texts *Texts) {
			translateAttributes(texts, o.Spec.ResourceAttributes)
		}),
		of(authorization, "SelfSubjectAccessReview", func(o *authorizationv1.SelfSubjectAccessReview, texts *Texts) {
			translateAttributes(texts, o.Spec.ResourceAttributes)
		}),
		of(authorization, "SelfSubjectRulesReview", func(o *authorizationv1.SelfSubjectRulesReview, texts *Texts) {
			for i := range o.Status.ResourceRules {
				groupsOf(texts, o.Status.ResourceRules[i].APIGroups)
			}
		}),
		of(admission, "ValidatingWebhookConfiguration", func(o *admissionregistrationv1.ValidatingWebhookConfiguration, texts *Texts) {
			for i := range o.Webhooks {
				rulesOf(texts, o.Webhooks[i].Rules)
			}
		}),
		of(admission, "MutatingWebhookConfiguration", func(o *admissionregistrationv1.MutatingWebhookConfiguration, texts *Texts) {
			for i := range o.Webhooks {
				rulesOf(texts, o.Webhooks[i].Rules)
			}
		}),
		of(admission, "ValidatingAdmissionPolicy", func(o *admissionregistrationv1.ValidatingAdmissionPolicy, texts *Texts) {
			if o.Spec.ParamKind != nil {
				o.Spec.ParamKind.APIVersion = texts.GroupVersion(o.Spec.ParamKind.APIVersion)
			}
			matchOf(texts, o.Spec.MatchConstraints)
		}),
		of(admission, "ValidatingAdmissionPolicyBinding", func(o *admissionregistrationv1.ValidatingAdmissionPolicyBinding, texts *Texts) {
			matchOf(texts, o.Spec.MatchResources)
		}),
		of(corev1.SchemeGroupVersion, "Event", func(o *corev1.Event, texts *Texts) {
			referenceOf(texts, &o.InvolvedObject)
			referenceOf(texts, o.Related)
		}),
		of(eventsv1.SchemeGroupVersion, "Event", func(o *eventsv1.Event, texts *Texts) {
			referenceOf(texts, &o.Regarding)
			referenceOf(texts, o.Related)
		}),
		of(autoscalingv2.SchemeGroupVersion, "HorizontalPodAutoscaler", func(o *autoscalingv2.HorizontalPodAutoscaler, texts *Texts) {
			o.Spec.ScaleTargetRef.APIVersion = texts.GroupVersion(o.Spec.ScaleTargetRef.APIVersion)
		}),
	}
}

// words are what strings of filled objects are: half of them are translated somewhere.
var words = []string{
	"", "a/v1", "b/v2", "a", "b", "things.a", "things.b", "no such a", "v1", "other/v1", "a group of a much longer name than b", "ä",
}

func filled(seed int64, c typedCase) runtime.Object {
	object := c.empty()
	randfill.NewWithSeed(seed).NilChance(0.2).NumElements(0, 4).MaxDepth(12).Funcs(
		func(text *string, c randfill.Continue) { *text = words[c.Intn(len(words))] },
		func(raw *runtime.RawExtension, c randfill.Continue) { raw.Raw = []byte(words[c.Intn(len(words))]) },
		func(raw *metav1.FieldsV1, c randfill.Continue) { raw.SetRawString(words[c.Intn(len(words))]) },
		func(*metav1.Time, randfill.Continue) {},
		func(*metav1.MicroTime, randfill.Continue) {},
		func(*apiextensionsv1.JSONSchemaProps, randfill.Continue) {},
	).Fill(object)
	return object
}

func encoded(t *testing.T, of schema.GroupVersionKind, object runtime.Object) []byte {
	t.Helper()
	object.GetObjectKind().SetGroupVersionKind(of)
	var out bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(object, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestObject_translates_what_the_typed_object_would_be_translated_to(t *testing.T) {
	for _, c := range typedCases() {
		t.Run(c.kind.Group+" "+c.kind.Kind, func(t *testing.T) {
			for seed := range int64(40) {
				object := filled(seed, c)
				before := encoded(t, c.kind, object)
				got, err := Object(nil, before, swap())
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				c.translate(object, swap())
				if want := encoded(t, c.kind, object); !bytes.Equal(got, want) {
					t.Fatalf("seed %d: %s", seed, cmp.Diff(want, got))
				}
				back, err := Object(nil, got, swap())
				if err != nil || (!bytes.Equal(back, before) && c.kind.Kind != "Status") {
					t.Fatalf("seed %d: it did not come back: %v %s", seed, err, cmp.Diff(before, back))
				}
			}
		})
	}
}

// swap takes a for b and b for the group of the longer name, which is a's counterpart, so that lengths change.
func swap() *Texts {
	const long = "a group of a much longer name than b, so long that the length of it takes a byte more than that of the short one does, which is 127"
	group := func(text string) string {
		switch text {
		case "a":
			return long
		case long:
			return "a"
		}
		return text
	}
	return &Texts{
		RootVersion: func(text string) (string, error) { return text, nil },
		Group:       group,
		GroupVersion: func(text string) string {
			if name, version, found := cutLast(text, "/"); found {
				return group(name) + "/" + version
			}
			return text
		},
		Name: func(text string) string {
			if plural, name, found := cutFirst(text, "."); found {
				return plural + "." + group(name)
			}
			return text
		},
		Prose: func(text string) string {
			if text == "no such a" {
				return "no such b"
			}
			return text
		},
	}
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := bytes.LastIndex([]byte(text), []byte(separator))
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

func cutFirst(text, separator string) (before, after string, found bool) {
	a, b, ok := bytes.Cut([]byte(text), []byte(separator))
	return string(a), string(b), ok
}

func TestObject_keeps_fields_that_it_does_not_know(t *testing.T) {
	c := typedCases()[0]
	before := encoded(t, c.kind, filled(7, c))
	before = append(before, 0xfa, 0x3f, 2, 'x', 'y', 0xf8, 0x3f, 9) // fields 1023 and 1023 of other wire types
	got, err := Object(nil, before, swap())
	if err != nil || !bytes.HasSuffix(got, []byte{0xfa, 0x3f, 2, 'x', 'y', 0xf8, 0x3f, 9}) {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestObject_passes_on_why_a_root_version_is_refused(t *testing.T) {
	texts, refused := swap(), errors.New("refused")
	texts.RootVersion = func(string) (string, error) { return "", refused }
	c := typedCases()[0]
	if _, err := Object(nil, encoded(t, c.kind, filled(7, c)), texts); !errors.Is(err, refused) {
		t.Fatal(err)
	}
}

func TestObject_translates_names_only_of_what_is_a_definition(t *testing.T) {
	c := typedCases()[2]
	object := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "things.a"}}
	texts := swap()
	for _, ofDefinitions := range []bool{false, true} {
		texts.OfDefinitions = ofDefinitions
		got, err := Object(nil, encoded(t, c.kind, object), texts)
		if err != nil || bytes.Contains(got, []byte("things.a\x12")) == ofDefinitions && bytes.Contains(got, []byte("longer")) != ofDefinitions {
			t.Errorf("of definitions %v: %q, %v", ofDefinitions, got, err)
		}
	}
}
