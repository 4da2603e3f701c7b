package protobuf

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	openapi "github.com/google/gnostic-models/openapiv2"
	openapi3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// objectSeeds are objects of all kinds that have places.
func objectSeeds(tb testing.TB) [][]byte {
	tb.Helper()
	var seeds [][]byte
	for _, c := range typedCases() {
		object := filled(3, c)
		object.GetObjectKind().SetGroupVersionKind(c.kind)
		var out bytes.Buffer
		if err := protobuf.NewSerializer(nil, nil).Encode(object, &out); err != nil {
			tb.Fatal(err)
		}
		seeds = append(seeds, out.Bytes())
	}
	return seeds
}

// FuzzObject holds what is made of any bytes against the typed codec: what it can read it can read translated, and what was
// translated twice is what it was.
func FuzzObject(f *testing.F) {
	for _, seed := range objectSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(checkObject)
}

func checkObject(t *testing.T, src []byte) {
	t.Helper()
	texts := swap()
	texts.Prose = func(text string) string { return text }
	once, err := Object(nil, src, texts)
	if err != nil {
		var wrong *MalformedError
		if !errors.As(err, &wrong) {
			t.Fatalf("no MalformedError: %v", err)
		}
		return
	}
	twice, err := Object(nil, once, texts)
	if err != nil {
		t.Fatalf("the translation is malformed: %v", err)
	}
	thrice, err := Object(nil, twice, texts)
	if err != nil || !bytes.Equal(once, thrice) {
		t.Fatalf("%q became %q, %v", once, thrice, err)
	}
	var before, after runtime.Unknown
	if before.Unmarshal(src[len(magic):]) != nil {
		return
	}
	if err := after.Unmarshal(twice[len(magic):]); err != nil || before.TypeMeta != after.TypeMeta {
		t.Fatalf("the envelope %v became %v, %v", before, after, err)
	}
	var was, is metav1.PartialObjectMetadata
	if was.Unmarshal(before.Raw) == nil && (is.Unmarshal(after.Raw) != nil || was.String() != is.String()) {
		t.Fatalf("%v became %v", was, is)
	}
}

// frameSeed is a stream of one frame.
const frameSeed = "\x00\x00\x00\x04\x0a\x02ab"

// FuzzWatchFrames asks that no stream is read past its bounds, and that what is written is whole frames.
func FuzzWatchFrames(f *testing.F) {
	f.Add([]byte(frameSeed))
	f.Fuzz(checkFrames)
}

func checkFrames(t *testing.T, src []byte) {
	t.Helper()
	var out bytes.Buffer
	_ = WatchFrames(&out, bytes.NewReader(src), swap(), func(n int) (func(), error) {
		if n > 1<<20 {
			return nil, errors.New("full")
		}
		return func() {}, nil
	})
	if err := WatchFrames(&bytes.Buffer{}, &out, swap(), freely); err != nil {
		t.Fatal(err)
	}
}

func TestObject_refuses_what_is_nested_too_deep(t *testing.T) {
	var schema []byte
	for range maxDepth + 1 {
		schema = protowire.AppendBytes(protowire.AppendTag(nil, 24, protowire.BytesType), schema)
	}
	named := protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), schema)
	definitions := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), named)
	deep := protowire.AppendBytes(protowire.AppendTag(nil, 9, protowire.BytesType), definitions)
	texts := swap()
	texts.Definition = func(text string) (string, bool) { return text, true }
	if _, err := OpenAPIv2(nil, deep, texts); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Fatal(err)
	}
}

func TestObject_refuses_an_envelope_whose_content_it_cannot_read(t *testing.T) {
	for _, envelope := range []runtime.Unknown{
		{Raw: []byte("{}"), ContentType: "application/json"},
		{Raw: []byte("x"), ContentEncoding: "gzip"},
	} {
		raw, err := envelope.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var wrong *MalformedError
		if _, err := Object(nil, append([]byte("k8s\x00"), raw...), swap()); !errors.As(err, &wrong) {
			t.Errorf("%v: %v", envelope, err)
		}
	}
}

// swagger and openAPI are small documents of OpenAPI; what is hidden is put into them.
const (
	hiddenDefinition = `,"hidden.Thing":{"type":"object"}`
	hiddenKind       = `,{"group":"hidden","kind":"Thing","version":"v1"}`

	swagger = `{"swagger":"2.0","info":{"title":"t","version":"v"},"paths":{"/apis/GROUP/v1/things":{"get":{
"x-kubernetes-group-version-kind":{"group":"GROUP","kind":"Thing","version":"v1"},
"parameters":[{"name":"body","in":"body","schema":{"$ref":"#/definitions/GROUP.Thing"}}],
"responses":{"200":{"description":"ok","schema":{"$ref":"#/definitions/GROUP.Thing"}}}}}},
"definitions":{"GROUP.Thing":{"type":"object","description":"group: a","x-other":"group: a\n","properties":{
"list":{"type":"array","items":{"$ref":"#/definitions/GROUP.Thing"}},
"map":{"additionalProperties":{"$ref":"#/definitions/GROUP.Thing"}},"all":{"allOf":[{"$ref":"#/definitions/GROUP.Thing"}]}},
"x-kubernetes-group-version-kind":[{"group":"GROUP","kind":"Thing","version":"v1"}KIND,{"group":"","kind":"Thing","version":"v1"}]}HIDDEN}}`

	openAPI = `{"openapi":"3.0.0","info":{"title":"t","version":"v"},"paths":{"/apis/GROUP/v1/things":{"get":{
"x-kubernetes-group-version-kind":{"group":"GROUP","kind":"Thing","version":"v1"},
"requestBody":{"content":{"*/*":{"schema":{"$ref":"#/components/schemas/GROUP.Thing"}}}},
"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/GROUP.Thing"}}}}}}}},
"components":{"schemas":{"GROUP.Thing":{"type":"object","description":"group: a","properties":{
"list":{"type":"array","items":{"$ref":"#/components/schemas/GROUP.Thing"}},
"map":{"additionalProperties":{"$ref":"#/components/schemas/GROUP.Thing"}},"all":{"allOf":[{"$ref":"#/components/schemas/GROUP.Thing"}]}},
"x-kubernetes-group-version-kind":[{"group":"GROUP","kind":"Thing","version":"v1"}KIND,{"group":"","kind":"Thing","version":"v1"}]}HIDDEN}}}`
)

func TestOpenAPI_translates_what_the_document_in_JSON_would_be_translated_to(t *testing.T) {
	texts := swap()
	long := texts.Group("a")
	visible := func(before, after string) func(string) (string, bool) {
		return func(text string) (string, bool) {
			return strings.Replace(text, before, after, 1), !strings.Contains(text, "hidden")
		}
	}
	texts.Path, texts.Definition = visible("/a/", "/"+long+"/"), visible("a.", long+".")
	texts.Kind = func(text string) (string, bool) { return texts.Group(text), text != "hidden" }
	texts.Reference = func(text string) string { return strings.Replace(text, "/a.", "/"+long+".", 1) }
	for _, of := range []struct {
		name, document, hidden string
		parse                  func(string) (proto.Message, error)
		translate              func(dst, src []byte, texts *Texts) ([]byte, error)
	}{
		{
			"v2", swagger, hiddenDefinition, func(text string) (proto.Message, error) { return openapi.ParseDocument([]byte(text)) }, OpenAPIv2,
		},
		{
			"v3", openAPI, hiddenDefinition, func(text string) (proto.Message, error) { return openapi3.ParseDocument([]byte(text)) }, OpenAPIv3,
		},
	} {
		t.Run(of.name, func(t *testing.T) {
			binary := func(group, hidden, hiddenKind string) []byte {
				text := strings.NewReplacer("GROUP", group, "HIDDEN", hidden, "KIND", hiddenKind).Replace(of.document)
				document, err := of.parse(text)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(document)
				if err != nil {
					t.Fatal(err)
				}
				return raw
			}
			got, err := of.translate(nil, binary("a", of.hidden, hiddenKind), texts)
			if want := binary(long, "", ""); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%v: got %q\nwant %q", err, got, want)
			}
		})
	}
}

func TestDiscovery_says_in_protobuf_what_the_document_says(t *testing.T) {
	got, err := Discovery([]byte(`{"kind":"APIGroup","apiVersion":"v1","name":"a","versions":[{"groupVersion":"a/v1","version":"v1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var envelope runtime.Unknown
	var group metav1.APIGroup
	if envelope.Unmarshal(got[len(magic):]) != nil || group.Unmarshal(envelope.Raw) != nil || group.Name != "a" || group.Versions[0].GroupVersion != "a/v1" {
		t.Fatalf("%v %v", envelope, group)
	}
	for _, wrong := range []string{"", "{", `{"kind":"Pod","apiVersion":"v1"}`, `{"kind":"APIGroup","apiVersion":"v1","versions":3}`} {
		var malformed *MalformedError
		if _, err := Discovery([]byte(wrong)); !errors.As(err, &malformed) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func BenchmarkObject(b *testing.B) {
	pod := ownedPod("a/v1")
	pod.Spec.Containers = []corev1.Container{{Image: strings.Repeat("x", 4000)}}
	var src bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(pod, &src); err != nil {
		b.Fatal(err)
	}
	var out []byte
	texts := swap()
	b.SetBytes(int64(src.Len()))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = Object(out[:0], src.Bytes(), texts); err != nil {
			b.Fatal(err)
		}
	}
}
