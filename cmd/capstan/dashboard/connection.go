package dashboard

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/transport/harmless"
)

// connection is a way to a cluster with the rights of who looks. What could change anything is refused before it is sent.
type connection struct {
	config  *rest.Config
	objects dynamic.Interface
	raw     rest.Interface
	reader  *inspect.Reader
}

// connect reads the kubeconfig; nothing is sent.
func connect(access inspect.Access) (*connection, error) {
	access.Timeout = 0 // it would end watches; each request has its own bound
	config, err := access.Config()
	if err != nil {
		return nil, err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, &inspect.Error{What: "the kubeconfig cannot be used: " + err.Error(), Next: "repair it, or name another with --kubeconfig", Err: err}
	}
	config.QPS = -1 // there are few requests, and each is waited for
	config.WarningHandler = rest.NoWarnings{}
	if config.ExecProvider != nil {
		config.ExecProvider.StdinUnavailable = true
		config.ExecProvider.StdinUnavailableMessage = "a page cannot ask for it: log in with kubectl"
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harmless.NewWatching(server.Path, bounded{next})
	})
	c := &connection{config: config}
	if c.objects, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.raw, err = rest.UnversionedRESTClientFor(dynamic.ConfigFor(config)); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	if c.reader, err = inspect.NewReader(config); err != nil {
		return nil, err
	}
	return c, nil
}

// listed is a part of a list as the API server writes it, so that what is not needed of it is never decoded.
func (c *connection) listed(ctx context.Context, kind schema.GroupVersionResource, limit int64, from string) ([]byte, error) {
	request := c.raw.Get().AbsPath("/apis", kind.Group, kind.Version, kind.Resource).Param("limit", strconv.FormatInt(limit, 10))
	if from != "" {
		request = request.Param("continue", from)
	}
	return request.Do(ctx).Raw()
}

// maxAnswer bounds what is read of one answer, but of a watch, whose events are read one by one.
const maxAnswer = 64 << 20

// bounded reads no more of an answer than there is room for.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(r)
	if err != nil || r.URL.Query().Get("watch") != "" {
		return response, err
	}
	response.Body = &limited{ReadCloser: response.Body, left: maxAnswer}
	return response, nil
}

type limited struct {
	io.ReadCloser

	left int
}

// Read refuses more than there is room for.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p[:min(len(p), l.left+1)])
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	}
	return n, err
}
