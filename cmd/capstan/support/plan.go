package support

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// planWithin is how long a plan may take: images may have to be fetched.
const planWithin = 3 * time.Minute

func (c *collector) plan(ctx context.Context, name string) error {
	if c.Plan == nil {
		return &LackError{Why: "it was not asked for"}
	}
	config := rest.CopyConfig(c.config)
	config.QPS = -1 // eight requests at a time are bound enough
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return blind{onlyGets{next}} })
	within, cancel := context.WithTimeout(ctx, planWithin)
	defer cancel()
	made, err := c.Plan(within, config)
	if err == nil {
		return c.add(name, made, "")
	}
	var status apierrors.APIStatus
	switch {
	case within.Err() != nil:
		return &LackError{Why: fmt.Sprintf("it was not made within %s", planWithin)}
	case apierrors.IsForbidden(err) && errors.As(err, &status) && status.Status().Details != nil:
		d := status.Status().Details
		return lackOf(err, "read", schema.GroupResource{Group: d.Group, Resource: d.Kind}, "", d.Name)
	}
	return &LackError{Why: "its inputs could not be read; `capstan plan` says why"}
}

// blind answers as an API server to somebody who may read neither Secrets nor instances of what providers define, without asking
// it: a plan tells of these that they are unseen.
type blind struct{ next http.RoundTripper }

func (b blind) RoundTrip(r *http.Request) (*http.Response, error) {
	resource, hidden := hiddenIn(r.URL.Path)
	if !hidden {
		return b.next.RoundTrip(r)
	}
	said := apierrors.NewForbidden(resource, "", errors.New("capstan support asks for no Secret and for no instance")).ErrStatus
	said.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	text, err := json.Marshal(said)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "403 Forbidden", StatusCode: http.StatusForbidden, Proto: r.Proto, ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text)), ContentLength: int64(len(text)), Request: r,
	}, nil
}

// hiddenIn says whether a path is one of Secrets, or of objects in a group that is neither Kubernetes' own nor OpenShift's. Which
// kinds there are is no secret.
func hiddenIn(path string) (resource schema.GroupResource, hidden bool) {
	group, below := "", ""
	if _, core, is := strings.Cut(path, "/api/v1/"); is {
		below = core
	} else if _, named, is := strings.Cut(path, "/apis/"); is {
		group, below, _ = strings.Cut(named, "/")
		_, below, _ = strings.Cut(below, "/") // the version
	}
	parts := strings.Split(below, "/")
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	resource = schema.GroupResource{Group: group, Resource: parts[0]}
	return resource, resource.Resource != "" && (!isKnown(group) || group == "" && resource.Resource == "secrets")
}

// isKnown says whether objects of a group are no instances of what providers define.
func isKnown(group string) bool {
	switch {
	case !strings.Contains(group, "."), strings.HasSuffix(group, ".k8s.io"), group == "monitoring.coreos.com":
		return true
	}
	return strings.HasSuffix(group, ".openshift.io") && group != "machine.openshift.io"
}
