package see

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
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

// onlyMetadata asks for objects without anything but their metadata.
const onlyMetadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"

// observing is how lists and watches are decoded: into observed objects, one at a time.
type observing struct{}

// SupportedMediaTypes is JSON only.
func (observing) SupportedMediaTypes() []runtime.SerializerInfo {
	return []runtime.SerializerInfo{{
		MediaType: runtime.ContentTypeJSON, MediaTypeType: "application", MediaTypeSubType: "json", EncodesAsText: true, Serializer: observer{},
		StreamSerializer: &runtime.StreamSerializerInfo{
			EncodesAsText: true, Framer: json.Framer,
			Serializer: envelopes{},
		},
	}}
}

// EncoderForVersion and DecoderToVersion convert nothing.
func (observing) EncoderForVersion(encoder runtime.Encoder, _ runtime.GroupVersioner) runtime.Encoder {
	return encoder
}

// DecoderToVersion converts nothing.
func (observing) DecoderToVersion(decoder runtime.Decoder, _ runtime.GroupVersioner) runtime.Decoder {
	return decoder
}

// envelopes decodes the events of a watch around the objects in them. A reader that goes by reflection takes several
// times as long, and most of what watches send is large.
type envelopes struct{ observer }

// Decode reads an event into the one that is given. Its object is not copied: the stream decodes that before it reads on.
// The text is JSON: the framer reads it with encoding/json, which ends the watch at anything else.
func (envelopes) Decode(text []byte, _ *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	event, isEvent := into.(*metav1.WatchEvent)
	if !isEvent {
		return nil, nil, fmt.Errorf("decoding an event of a watch into %T", into)
	}
	root := gjson.ParseBytes(text)
	object := root.Get("object")
	event.Type, event.Object.Raw = strings.Clone(root.Get("type").String()), text[object.Index:object.Index+len(object.Raw)]
	return event, &schema.GroupVersionKind{}, nil
}

// newObserver is the client of the watches.
func newObserver(cfg *rest.Config, client *http.Client) (rest.Interface, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.GroupVersion = &MetaVersion
	cfg.APIPath = "/unused" // every request names its path
	cfg.NegotiatedSerializer = observing{}
	cfg.ContentType, cfg.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	return rest.RESTClientForConfigAndClient(cfg, client)
}

// View is what a watch shows: the objects of a resource, in one namespace or all, that have a label or a name.
type View struct {
	GVR          schema.GroupVersionResource
	Namespace    string // all if empty
	Labels       string // selector
	Fields       string // selector
	OnlyMetadata bool   // nothing but it
}

func (r *Reader) request(v View, opts metav1.ListOptions) *rest.Request {
	opts.LabelSelector, opts.FieldSelector = v.Labels, v.Fields
	request := r.Objects.Get().AbsPath(PathOf(v.GVR, v.Namespace)...).SpecificallyVersionedParams(&opts, MetaParameters, MetaVersion)
	if v.OnlyMetadata {
		request.SetHeader("Accept", onlyMetadata)
	}
	return request
}

func (r *Reader) listView(ctx context.Context, v View, opts metav1.ListOptions) (*objectList, error) {
	got, err := r.request(v, opts).Do(ctx).Get()
	if err != nil {
		return nil, err
	}
	list, isList := got.(*objectList)
	if !isList {
		return nil, fmt.Errorf("listing %s: %w", v.GVR.GroupResource(), &NoListError{errors.New("the answer is no list")})
	}
	return list, nil
}

func (r *Reader) watchView(ctx context.Context, v View, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return r.request(v, opts).Watch(ctx)
}
