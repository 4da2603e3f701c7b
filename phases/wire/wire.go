// Package wire reads what watches send in one go over its text. The ordinary way of clients goes over each event nine times: where
// objects are large, or many change, that is most of what a process computes.
package wire

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"
)

// How options of requests are written.
var (
	MetaVersion = schema.GroupVersion{Version: "v1"}
	metaScheme  = func() *runtime.Scheme {
		scheme := runtime.NewScheme()
		metav1.AddToGroupVersion(scheme, MetaVersion)
		return scheme
	}()
	MetaParameters = runtime.NewParameterCodec(metaScheme)
)

// Client is one whose lists and watches are decoded by a serializer of objects, without a conversion. Every request names its path.
func Client(cfg *rest.Config, client *http.Client, objects runtime.Serializer) (rest.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion = &MetaVersion
	cfg.APIPath = "/unused"
	cfg.NegotiatedSerializer = serializers{objects}
	cfg.ContentType, cfg.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	return rest.RESTClientForConfigAndClient(cfg, client)
}

// Path is that of the objects of a resource, of one namespace or, if that is empty, of all.
func Path(gvr schema.GroupVersionResource, namespace string) []string {
	path := []string{"apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		path = []string{"api", gvr.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, gvr.Resource)
}

// serializers decode lists and watches, the objects of events one at a time.
type serializers struct{ objects runtime.Serializer }

// SupportedMediaTypes is JSON only.
func (s serializers) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{{
		MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true, Serializer: s.objects,
		StreamSerializer: &runtime.StreamSerializerInfo{EncodesAsText: true, Framer: framer, Serializer: Envelopes{s.objects}},
	}}
}

// EncoderForVersion and DecoderToVersion convert nothing.
func (serializers) EncoderForVersion(encoder runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return encoder
}

// DecoderToVersion converts nothing.
func (serializers) DecoderToVersion(decoder runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return decoder
}

// Envelopes decode the events of a watch around the objects in them.
type Envelopes struct{ runtime.Serializer }

// Decode reads an event into the one that is given. Its object is not copied: the stream decodes that before it reads on.
// The text is JSON: the framer ends the watch at anything else.
func (Envelopes) Decode(text []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	event, isEvent := into.(*metav1.WatchEvent)
	if !isEvent {
		return nil, nil, fmt.Errorf("decoding an event of a watch into %T", into)
	}
	root := gjson.ParseBytes(text)
	object := root.Get("object")
	event.Type, event.Object.Raw = strings.Clone(root.Get("type").String()), text[object.Index:object.Index+len(object.Raw)]
	return event, &schema.GroupVersionKind{}, nil
}

// Objects decode into new objects of one kind, typed or Unstructured, and what API servers send in place of one into a Status. A typed one does
// not say its kind, as one that comes from an ordinary client.
type Objects struct {
	New func() runtime.Object
	// Unread are the fields that nobody reads, in the words of gjson; they are null in what is decoded. Of many an object they are
	// most of the text, such as the fields that managers own.
	Unread []string
}

// Decode reads an object into the one that is given, or into a new one.
func (o Objects) Decode(text []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	if into == nil {
		into = o.New()
	}
	_, untyped := into.(*unstructured.Unstructured)
	if gjson.GetBytes(text, "kind").Str == "Status" && gjson.GetBytes(text, "apiVersion").Str == "v1" {
		into = &metav1.Status{}
	} else {
		text = without(text, o.Unread)
	}
	if object, is := into.(*unstructured.Unstructured); is {
		err := kjson.UnmarshalCaseSensitivePreserveInts(text, &object.Object)
		kind := object.GroupVersionKind()
		return object, &kind, err
	}
	err := kjson.UnmarshalCaseSensitivePreserveInts(text, into)
	kind := into.GetObjectKind().GroupVersionKind()
	if !untyped {
		into.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return into, &kind, err
}

// Encode is not needed by who only reads.
func (Objects) Encode(runtime.Object, io.Writer) error {
	return errors.New("nothing is sent by this client")
}

// Identifier tells apart what encodes.
func (Objects) Identifier() runtime.Identifier { return "objects" }
