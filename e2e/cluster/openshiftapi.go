package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// OpenShiftAPIUserAgent is the user agent of OpenShift's API server when it asks kube-apiserver.
const OpenShiftAPIUserAgent = "openshift-apiserver"

// The Service that kube-apiserver is told to find OpenShift's API server behind.
const (
	openshiftAPINamespace = "openshift-apiserver"
	openshiftAPIService   = "api"
)

// frontProxy is the name that kube-apiserver's certificate has when it passes requests on.
const frontProxy = "front-proxy-client"

var (
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// openshiftAPI plays OpenShift's aggregated API server: it serves the same
// objects as kube-apiserver once more, under the names of OpenShift's groups,
// and keeps nothing itself. It answers kube-apiserver only.
type openshiftAPI struct {
	server  *http.Server
	backend *rest.Config
	port    int
	served  chan struct{}
}

// startOpenShiftAPI serves, and tells kube-apiserver where; see waitForOpenShiftAPI.
func (c *Cluster) startOpenShiftAPI(ctx context.Context) error {
	var err error
	if c.openshift, err = c.serveOpenShiftAPI(ctx); err != nil {
		return err
	}
	return c.registerOpenShiftAPI(ctx)
}

func (c *Cluster) serveOpenShiftAPI(ctx context.Context) (*openshiftAPI, error) {
	serving, err := c.authority.server(openshiftAPIService + "." + openshiftAPINamespace + ".svc")
	if err != nil {
		return nil, fmt.Errorf("certifying OpenShift's API server: %w", err)
	}
	certificate, err := tls.X509KeyPair(serving.cert, serving.key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate of OpenShift's API server: %w", err)
	}
	callers := x509.NewCertPool()
	callers.AddCert(c.frontProxy.cert)
	o := &openshiftAPI{backend: c.Config(), served: make(chan struct{})}
	o.backend.UserAgent = OpenShiftAPIUserAgent
	handler, err := newOpenShiftHandler(o.backend, c.client)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for OpenShift's API server: %w", err)
	}
	o.port = listener.Addr().(*net.TCPAddr).Port
	o.server = &http.Server{
		Handler:  handler,
		ErrorLog: log.New(io.Discard, "", 0), // a connection that ends is nobody's trouble
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
			ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: callers,
		},
		ReadHeaderTimeout: readHeaderTimeout,
	}
	go func() {
		defer close(o.served)
		_ = o.server.ServeTLS(listener, "", "") // it ends with Close, and with nothing else
	}()
	return o, nil
}

// stop ends all requests under way.
func (o *openshiftAPI) stop() error {
	err := o.server.Close()
	<-o.served
	closeIdleConnections(o.backend)
	return err
}

// registerOpenShiftAPI tells kube-apiserver where the groups are served. A
// Service with an external name is the only kind that may lead to loopback.
func (c *Cluster) registerOpenShiftAPI(ctx context.Context) error {
	type object = map[string]any
	apply := func(resource schema.GroupVersionResource, kind, namespace, name string, spec object) error {
		wanted := &unstructured.Unstructured{Object: object{"metadata": object{"name": name}, "spec": spec}}
		wanted.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
		options := metav1.ApplyOptions{FieldManager: UserAgent, Force: true}
		if _, err := c.dynamic.Resource(resource).Namespace(namespace).Apply(ctx, name, wanted, options); err != nil {
			return fmt.Errorf("applying %s %s: %w", kind, name, err)
		}
		return nil
	}
	if err := apply(namespaces, "Namespace", "", openshiftAPINamespace, object{}); err != nil {
		return err
	}
	service := object{"type": "ExternalName", "externalName": "127.0.0.1"}
	if err := apply(services, "Service", openshiftAPINamespace, openshiftAPIService, service); err != nil {
		return err
	}
	for _, group := range openshiftGroups {
		err := apply(apiServices, "APIService", "", openshiftVersion+"."+group.name, object{
			"group": group.name, "version": openshiftVersion, "groupPriorityMinimum": int64(9900), "versionPriority": int64(15),
			"caBundle": c.authority.bundle64(),
			"service":  object{"namespace": openshiftAPINamespace, "name": openshiftAPIService, "port": int64(c.openshift.port)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waitForOpenShiftAPI waits until kube-apiserver passes on requests for every group, and tells of them in discovery.
func (c *Cluster) waitForOpenShiftAPI(ctx context.Context) error {
	return c.eventually(ctx, "waiting for OpenShift's API server", func(ctx context.Context) error {
		_, known, err := c.client.Discovery().ServerGroupsAndResources()
		if err != nil {
			return err
		}
		told := map[string]bool{}
		for _, list := range known {
			told[list.GroupVersion] = len(list.APIResources) > 0
		}
		for _, group := range openshiftGroups {
			if !told[group.version()] {
				return fmt.Errorf("discovery does not tell of %s", group.version())
			}
			path := "/apis/" + group.version() + "/" + group.resources[0].Name
			if err := c.client.RESTClient().Get().AbsPath(path).Do(ctx).Error(); err != nil {
				return err
			}
		}
		return nil
	})
}
