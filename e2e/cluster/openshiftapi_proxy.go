package cluster

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// readHeaderTimeout is for one who connects and says nothing.
const readHeaderTimeout = 10 * time.Second

// Headers in which kube-apiserver says for whom it asks, as its flags name them.
const (
	remoteUser  = "X-Remote-User"
	remoteGroup = "X-Remote-Group"
	remoteExtra = "X-Remote-Extra-"
)

// openshiftHandler answers discovery and projectrequests itself, and hands on the rest.
type openshiftHandler struct {
	client    kubernetes.Interface
	host      *url.URL
	transport http.RoundTripper
}

func newOpenShiftHandler(backend *rest.Config, client kubernetes.Interface) (*openshiftHandler, error) {
	transport, err := rest.TransportFor(backend)
	if err != nil {
		return nil, fmt.Errorf("building the connection from OpenShift's API server: %w", err)
	}
	host, err := url.Parse(backend.Host)
	if err != nil {
		return nil, fmt.Errorf("reading the address of kube-apiserver: %w", err)
	}
	return &openshiftHandler{client: client, host: host, transport: transport}, nil
}

func (h *openshiftHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, group := range openshiftGroups {
		if r.URL.Path == "/apis/"+group.version() {
			answer(w, http.StatusOK, group.discovery())
			return
		}
	}
	q := understand(r)
	resource := schema.GroupResource{Group: q.group.name, Resource: q.resource.Name}
	switch {
	case q.verb == "":
		refuse(w, apierrors.NewNotFound(resource, ""))
	case !slices.Contains(q.resource.Verbs, q.verb) || resource.Resource == projectRequests && q.verb == "create":
		refuse(w, apierrors.NewMethodNotSupported(resource, q.verb))
	case resource.Resource == projectRequests:
		h.listProjectRequests(w, r, resource)
	default:
		h.handOn(w, r, q)
	}
}

// listProjectRequests answers as the real server does: the list is none, but
// says whether one may ask for a project.
func (h *openshiftHandler) listProjectRequests(w http.ResponseWriter, r *http.Request, resource schema.GroupResource) {
	review, err := h.client.AuthorizationV1().SubjectAccessReviews().Create(r.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: r.Header.Get(remoteUser), Groups: r.Header.Values(remoteGroup),
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Group: resource.Group, Resource: resource.Resource},
		},
	}, metav1.CreateOptions{})
	switch {
	case err != nil:
		refuse(w, apierrors.NewInternalError(err))
	case review.Status.Allowed:
		answer(w, http.StatusOK, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess})
	default:
		forbidden := apierrors.NewForbidden(resource, "", nil)
		forbidden.ErrStatus.Message = "You may not request a new project via this API."
		refuse(w, forbidden)
	}
}

func refuse(w http.ResponseWriter, why *apierrors.StatusError) {
	status := why.ErrStatus
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	answer(w, int(status.Code), status)
}

func answer(w http.ResponseWriter, code int, document any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(document) // who asked has gone
}

// handOn asks kube-apiserver for the same under its other name: for Namespaces
// with rights of its own, for RBAC in the name of who asked, as the real server does.
func (h *openshiftHandler) handOn(w http.ResponseWriter, r *http.Request, q question) {
	body, err := q.group.request(r)
	if err != nil {
		refuse(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	proxy := httputil.ReverseProxy{
		Transport:     h.transport,
		FlushInterval: -1, // an event of a watch waits for nothing
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(h.host)
			p.Out.URL.Path, p.Out.URL.RawPath = q.path, ""
			p.Out.Body, p.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			for name := range p.In.Header {
				if strings.HasPrefix(name, "X-Remote-") || name == "Accept-Encoding" {
					p.Out.Header.Del(name)
				}
			}
			p.Out.Header.Set("User-Agent", OpenShiftAPIUserAgent)
			p.Out.Header.Set("Accept", understood(p.In.Header.Get("Accept")))
			if q.group.kind.here == "" {
				p.Out.Header.Set("Impersonate-User", p.In.Header.Get(remoteUser))
				p.Out.Header["Impersonate-Group"] = p.In.Header.Values(remoteGroup)
			}
		},
		ModifyResponse: func(response *http.Response) error { return q.group.response(response, q.verb == "watch") },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, apierrors.NewServiceUnavailable(err.Error()))
		},
	}
	proxy.ServeHTTP(w, r)
}

// understood leaves out of an Accept header what cannot be renamed: protobuf, unless it is metadata alone.
func understood(accept string) string {
	clauses := slices.DeleteFunc(strings.Split(accept, ","), func(clause string) bool {
		return !strings.Contains(clause, "json") && !strings.Contains(clause, "as=PartialObjectMetadata")
	})
	if len(clauses) == 0 {
		return "application/json"
	}
	return strings.Join(clauses, ",")
}

// request is the body that kube-apiserver is to get.
func (g openshiftGroup) request(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	_ = yaml.Unmarshal(body, &object) // a JSON patch, protobuf and nothing are no object
	if object["apiVersion"] != g.version() {
		return body, nil
	}
	rename(object, renaming{g.version(), g.alias}, g.kind)
	return json.Marshal(object)
}

// response gives all objects of an answer the names that they have here.
func (g openshiftGroup) response(response *http.Response, watch bool) error {
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		return nil // metadata in protobuf, which has no name of ours
	}
	there, decoder := response.Body, json.NewDecoder(response.Body)
	decoder.UseNumber()
	response.Header.Del("Content-Length")
	response.ContentLength = -1
	here, out := io.Pipe()
	response.Body = here
	go func() {
		defer there.Close()
		encoder := json.NewEncoder(out)
		for {
			var document map[string]any
			err := decoder.Decode(&document)
			if err == nil {
				object := document
				if event, is := document["object"].(map[string]any); watch && is {
					object = event
				}
				rename(object, renaming{g.alias, g.version()}, renaming{g.kind.there, g.kind.here})
				err = encoder.Encode(document)
			}
			if err != nil {
				out.CloseWithError(err) // the end of the answer, too, or nobody reads it
				return
			}
		}
	}()
	return nil
}

// rename calls an object, and those of a list, by other names; what is of another API stays.
func rename(object map[string]any, version, kind renaming) {
	name, _ := object["kind"].(string)
	if object["apiVersion"] != version.here || !strings.HasPrefix(name, kind.here) {
		return
	}
	object["apiVersion"], object["kind"] = version.there, kind.there+strings.TrimPrefix(name, kind.here)
	items, _ := object["items"].([]any)
	for _, item := range items {
		if item, is := item.(map[string]any); is {
			rename(item, version, kind)
		}
	}
}
