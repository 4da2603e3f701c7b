package guest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-api/util/certs"
)

const (
	// dialing is how long a connection may take.
	dialing = 5 * time.Second
	agent   = "capstan-provider"
	// drained is how much is read of an answer that nobody wants to know, in bytes.
	drained = 1 << 20
)

// line is how a guest is spoken to.
type line struct {
	server    *url.URL
	http      *http.Client
	transport *http.Transport
	// certificate is that of the kubeconfig, nil for one without; authorities are those that the guest is trusted by, in PEM.
	certificate *x509.Certificate
	authorities []byte
	// insecure says that it takes anybody for the guest.
	insecure bool
	// leads tells apart where kubeconfigs lead to, and whom they take for the guest.
	leads string
	// bounds are those of all guests together.
	bounds *bounds
}

// errUnsafe is a kubeconfig that names a program or a file: it comes from whoever may write a Secret, and is used by this process.
var errUnsafe = errors.New("it names a program, a file or a provider of credentials; give it certificates or a token as data")

// dial makes a line by a kubeconfig. Its errors quote nothing of it.
func dial(data []byte, within *bounds) (*line, error) {
	given, err := clientcmd.Load(data)
	if err != nil {
		return nil, errors.New("it is no kubeconfig; give it one")
	}
	if isUnsafe(given) {
		return nil, errUnsafe
	}
	config, err := clientcmd.NewDefaultClientConfig(*given, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, errors.New("its current context cannot be used; give it a cluster and a user")
	}
	server, err := url.Parse(config.Host)
	if err != nil || server.Scheme != "https" || server.Host == "" {
		return nil, errors.New("its server is no https URL; mend it")
	}
	security, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, errors.New("its certificates or its key cannot be read; mend them")
	}
	config.UserAgent = agent
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: security, TLSHandshakeTimeout: dialing, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Timeout: dialing, KeepAlive: 30 * time.Second}).DialContext, IdleConnTimeout: 2 * resting, MaxIdleConnsPerHost: 1,
	}
	if config.Proxy != nil {
		transport.Proxy = config.Proxy
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, errors.New("its user cannot be used; give it certificates or a token as data")
	}
	where, err := json.Marshal([]any{given.Clusters, given.Contexts, given.CurrentContext})
	if err != nil {
		return nil, errors.New("it is no kubeconfig; give it one")
	}
	made := &line{bounds: within, leads: fmt.Sprintf("%x", sha256.Sum256(where)), server: server, transport: transport, authorities: config.CAData, insecure: config.Insecure, http: &http.Client{
		Transport: wrapped, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if len(config.CertData) > 0 {
		if made.certificate, err = certs.DecodeCertPEM(config.CertData); err != nil {
			return nil, errors.New("its certificate cannot be read; mend it")
		}
	}
	return made, nil
}

func isUnsafe(given *clientcmdapi.Config) bool {
	for _, user := range given.AuthInfos {
		if user.Exec != nil || user.AuthProvider != nil || user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "" {
			return true
		}
	}
	for _, cluster := range given.Clusters {
		if cluster.CertificateAuthority != "" {
			return true
		}
	}
	return false
}

func (l *line) close() { l.transport.CloseIdleConnections() }

// statusError is an answer that is none of those asked for.
type statusError struct {
	path string
	code int
}

func (e statusError) Error() string {
	switch e.code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("it refuses the credentials of the kubeconfig for %s (status %d)", e.path, e.code)
	}
	return fmt.Sprintf("it answers %s with status %d", e.path, e.code)
}

// isRefusal says that a guest refuses the credentials, or shows some that are not trusted.
func isRefusal(err error) bool {
	if status, is := errors.AsType[statusError](err); is {
		return status.code == http.StatusUnauthorized || status.code == http.StatusForbidden
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted || strings.Contains(err.Error(), "remote error: tls: ") // an alert, whose type nobody else can name
}

// isMissing says that a guest has no such object, or no such kind.
func isMissing(err error) bool {
	status, is := errors.AsType[statusError](err)
	return is && status.code == http.StatusNotFound
}

// get reads a path, as JSON into what is not nil.
func (l *line) get(ctx context.Context, path, query string, into any) error {
	return l.send(ctx, http.MethodGet, path, query, nil, into)
}

func (l *line) send(ctx context.Context, method, path, query string, patch []byte, into any) error {
	at := l.server.JoinPath(path)
	at.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, method, at.String(), bytes.NewReader(patch))
	if err != nil {
		return fmt.Errorf("asking for %s: it is no path", path)
	}
	request.Header.Set("Accept", "application/json")
	if patch != nil {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	answer, err := l.http.Do(request)
	if err != nil {
		return said(ctx, path, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK || into == nil {
		_, err := io.CopyN(io.Discard, answer.Body, drained) // so that the connection can be used again
		switch {
		case answer.StatusCode != http.StatusOK:
			return statusError{path: path, code: answer.StatusCode}
		case err != nil && !errors.Is(err, io.EOF):
			return said(ctx, path, err)
		}
		return nil
	}
	return l.decode(ctx, path, answer.Body, into)
}

// decode reads an answer of JSON.
func (l *line) decode(ctx context.Context, path string, answer io.Reader, into any) error {
	body, err := read(answer)
	if err == nil {
		err = l.bounds.decode(ctx, body, into)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLarge):
		return fmt.Errorf("it answers %s with more than the %d bytes allowed", path, answerMost)
	case errors.Is(err, errMany):
		return fmt.Errorf("it answers %s with more objects, or more in them, than is allowed", path)
	case body == nil || ctx.Err() != nil:
		return said(ctx, path, err)
	}
	return fmt.Errorf("it answers %s with something else than JSON of the kind asked for", path)
}

// said is why there was no answer, in the same words each time: what it says of ports of this process would be news on every poll. The
// URL stands in the kubeconfig, and is left out.
func said(ctx context.Context, path string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("it has not answered %s within %s", path, patience)
	}
	if own, is := errors.AsType[*url.Error](err); is {
		err = own.Err
	}
	if own, is := errors.AsType[*net.OpError](err); is {
		err = fmt.Errorf("%s: %w", own.Op, own.Err)
	}
	return fmt.Errorf("asking for %s: %w", path, err)
}
