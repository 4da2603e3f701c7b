package guest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// largest is what a request may carry.
const largest = 3 << 20

// ProbesPath tells everybody how often the guest was asked whether it is ready.
const ProbesPath = "/devinfra/probes"

// handler serves what the fake API server lacks, and has that server answer all else.
type handler struct {
	objects *objects
	fake    http.Handler
	lacks   *lacks
	// probes counts how often it was asked whether it is ready.
	probes *atomic.Int64
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.lacks.wait(r.Context())
	switch r.URL.Path {
	case "/readyz", "/livez", "/healthz": // as everywhere, nobody has to say who asks
		if r.URL.Path == "/readyz" {
			h.probes.Add(1)
		}
		_, _ = io.WriteString(w, "ok")
		return
	case ProbesPath:
		_, _ = fmt.Fprintln(w, h.probes.Load())
		return
	}
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 || h.lacks.credentials.Load() {
		answerError(w, apierrors.NewUnauthorized("no certificate of the cluster's authority"))
		return
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	of := schema.GroupVersion{}
	if len(parts) >= 3 && parts[0] == "apis" {
		of = schema.GroupVersion{Group: parts[1], Version: parts[2]}
	}
	switch {
	case r.URL.Path == "/version":
		answer(w, http.StatusOK, map[string]string{"major": "1", "minor": "35", "gitVersion": "v1.35.4"})
	case r.URL.Path == "/apis" && !h.lacks.kinds.Load():
		h.groups(w, r)
	case of != config && of != operator || h.lacks.kinds.Load():
		h.fake.ServeHTTP(w, r)
	case len(parts) == 3:
		answer(w, http.StatusOK, resources(of))
	default:
		h.object(w, r, of.WithResource(parts[3]), strings.Join(parts[4:], "/"))
	}
}

// groups are those of the fake API server, and OpenShift's.
func (h handler) groups(w http.ResponseWriter, r *http.Request) {
	kept := &keeper{header: http.Header{}}
	h.fake.ServeHTTP(kept, r)
	all := &metav1.APIGroupList{}
	if err := json.Unmarshal(kept.body, all); err != nil {
		answerError(w, apierrors.NewInternalError(err))
		return
	}
	all.Kind, all.APIVersion = "APIGroupList", "v1"
	for _, of := range []schema.GroupVersion{config, operator} {
		version := metav1.GroupVersionForDiscovery{GroupVersion: of.String(), Version: of.Version}
		all.Groups = append(all.Groups, metav1.APIGroup{Name: of.Group, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version})
	}
	answer(w, http.StatusOK, all)
}

// object does what is asked of OpenShift's objects. A subresource is the object itself.
func (h handler) object(w http.ResponseWriter, r *http.Request, of schema.GroupVersionResource, named string) {
	name, _, _ := strings.Cut(named, "/")
	if kinds[of] == "" {
		answerError(w, apierrors.NewNotFound(of.GroupResource(), name))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
	if err != nil {
		answerError(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	var result any
	switch {
	case r.Method == http.MethodGet && name == "" && r.URL.Query().Get("watch") == "":
		result = h.objects.list(of)
	case r.Method == http.MethodGet && name != "":
		result, err = h.objects.get(of, name)
	case r.Method == http.MethodPatch && name != "":
		result, err = h.objects.patch(of, name, body)
	case r.Method == http.MethodPut || r.Method == http.MethodPost:
		object := &unstructured.Unstructured{}
		if err = object.UnmarshalJSON(body); err == nil {
			result, err = h.objects.put(of, object)
		}
	case r.Method == http.MethodDelete && name != "":
		err = h.objects.remove(of, name)
		result = metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}
	default:
		err = apierrors.NewMethodNotSupported(of.GroupResource(), r.Method)
	}
	if err != nil {
		answerError(w, err)
		return
	}
	answer(w, http.StatusOK, result)
}

func answer(w http.ResponseWriter, code int, content any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(content) // whoever asked is gone
}

func answerError(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewBadRequest(err.Error())
	}
	said := status.Status()
	said.Kind, said.APIVersion = "Status", "v1"
	answer(w, int(said.Code), said)
}

// keeper keeps an answer instead of sending it.
type keeper struct {
	header http.Header
	body   []byte
}

func (k *keeper) Header() http.Header { return k.header }
func (k *keeper) WriteHeader(int)     {}
func (k *keeper) Write(part []byte) (int, error) {
	k.body = append(k.body, part...)
	return len(part), nil
}
