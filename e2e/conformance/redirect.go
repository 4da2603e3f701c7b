package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// route is the name of the suite's webhook server in the shim's routes.
const route = "suite"

// redirect stands before the proxy and has the API server ask the shim wherever a suite has it ask the suite itself: what people do
// with the webhooks of a provider, as docs/capi-shim.md tells, a suite cannot be told to do. All else passes as it is.
type redirect struct {
	next   http.Handler
	codecs serializer.CodecFactory
	// shim is where the shim is, and ca what certifies it.
	shim string
	ca   []byte
	// routes is the shim's file of routes.
	routes string
}

func newRedirect(next http.Handler, shim string, ca []byte, routes string) (*redirect, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionregistrationv1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return &redirect{next: next, codecs: serializer.NewCodecFactory(scheme), shim: shim, ca: ca, routes: routes}, nil
}

// callers are the kinds that name a server to ask.
var callers = regexp.MustCompile(`/(customresourcedefinitions|mutatingwebhookconfigurations|validatingwebhookconfigurations)(/[^/]+)?$`)

func (r *redirect) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if (request.Method == http.MethodPost || request.Method == http.MethodPut) && callers.MatchString(request.URL.Path) {
		if err := r.turn(request); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	r.next.ServeHTTP(w, request)
}

// turn has the object in the request's body name the shim; it goes on as JSON.
func (r *redirect) turn(request *http.Request) error {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return fmt.Errorf("reading what is sent to %s: %w", request.URL.Path, err)
	}
	object, kind, err := r.codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return fmt.Errorf("reading what is sent to %s: %w", request.URL.Path, err)
	}
	if err := r.name(object); err != nil {
		return err
	}
	var out bytes.Buffer
	info, is := runtime.SerializerInfoForMediaType(r.codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !is {
		return fmt.Errorf("there is no serializer of %s", runtime.ContentTypeJSON)
	}
	if err := r.codecs.EncoderForVersion(info.Serializer, kind.GroupVersion()).Encode(object, &out); err != nil {
		return fmt.Errorf("writing what is sent to %s: %w", request.URL.Path, err)
	}
	request.Body, request.ContentLength = io.NopCloser(&out), int64(out.Len())
	request.Header.Set("Content-Type", runtime.ContentTypeJSON)
	request.Header.Del("Content-Length")
	return nil
}

// name has an object name the shim.
func (r *redirect) name(object runtime.Object) error {
	var clients []*admissionregistrationv1.WebhookClientConfig
	switch object := object.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		if c := object.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && c.Webhook.ClientConfig.URL != nil {
			c.Webhook.ClientConfig.URL, c.Webhook.ClientConfig.CABundle = ptr.To(r.shim+"/convert"), r.ca
		}
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for i := range object.Webhooks {
			clients = append(clients, &object.Webhooks[i].ClientConfig)
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for i := range object.Webhooks {
			clients = append(clients, &object.Webhooks[i].ClientConfig)
		}
	}
	for _, client := range clients {
		if client.URL == nil {
			continue
		}
		server, err := url.Parse(*client.URL)
		if err != nil {
			return fmt.Errorf("reading the address of a webhook: %w", err)
		}
		if err := r.lead(server, client.CABundle); err != nil {
			return err
		}
		client.URL, client.CABundle = ptr.To(r.shim+"/admit/"+route+server.Path), r.ca
	}
	return nil
}

// lead writes the route to the suite's server, in one piece, since the shim reads the file at any time.
func (r *redirect) lead(server *url.URL, ca []byte) error {
	folder := filepath.Dir(r.routes)
	trusted := filepath.Join(folder, "suite.crt")
	if err := os.WriteFile(trusted, ca, 0o600); err != nil {
		return fmt.Errorf("writing the certificate of the suite's webhooks: %w", err)
	}
	text, err := yaml.Marshal(map[string]any{"routes": []map[string]string{{"name": route, "url": server.Scheme + "://" + server.Host, "caFile": trusted}}})
	if err != nil {
		return fmt.Errorf("writing the routes of the shim: %w", err)
	}
	fresh := r.routes + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return fmt.Errorf("writing the routes of the shim: %w", err)
	}
	if err := os.Rename(fresh, r.routes); err != nil {
		return fmt.Errorf("writing the routes of the shim: %w", err)
	}
	return nil
}
