package conversion

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/yaml"
)

// Route leads to the server of a provider's webhooks.
type Route struct {
	// Name stands in paths of the shim: /admit/<name>/<path>, /convert/<name>/<path>.
	Name string `json:"name"`
	// URL is the server's, without a path: https, or http on this machine.
	URL string `json:"url"`
	// CAFile has the certificates, in PEM, that the server's is signed by; without it the system's count.
	CAFile string `json:"caFile,omitempty"`
}

// Routes are those of a file, which is read again when it, or a file that it names, has changed. A file that cannot be read changes
// nothing. A route that leads nowhere stays as it was before, or is not there, and the others count; the log tells which.
type Routes struct {
	file string
	log  logr.Logger

	mu    sync.Mutex
	known map[string]*delegate
	seen  []fs.FileInfo // nothing for one that could not be
	names []string      // of the files that were seen
	wrong string        // what was told last
}

// delegate is a route that can be asked.
type delegate struct {
	base   *url.URL
	client *http.Client
}

const (
	// dialTimeout is so short that a server that swallows packets leaves time for another try.
	dialTimeout = 600 * time.Millisecond
	// maxHeader bounds what is read of an answer before its body.
	maxHeader = 64 << 10
)

// routeForm is the name of a route.
var routeForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// ReadRoutes reads the routes of a file. Without a file there are none: then only linked packages convert. Its error is about the
// file as a whole.
func ReadRoutes(file string, log logr.Logger) (*Routes, error) {
	r := &Routes{file: file, log: log, known: map[string]*delegate{}}
	if file == "" {
		return r, nil
	}
	return r, r.read()
}

// to is where a route leads.
func (r *Routes) to(name string) (*delegate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != "" && r.changed() {
		if err := r.read(); err != nil && err.Error() != r.wrong {
			r.wrong = err.Error()
			r.log.Error(err, "The routes that were read before go on")
		}
	}
	if d := r.known[name]; d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("the shim has no route %q; name its server in the route file", name)
}

// label is the route's name in metrics, which whoever sends requests cannot make up.
func (r *Routes) label(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name == "" || r.known[name] != nil {
		return name
	}
	return "unknown"
}

func (r *Routes) changed() bool {
	return !slices.EqualFunc(r.names, r.seen, func(name string, before fs.FileInfo) bool {
		now, err := os.Stat(name)
		if err != nil || before == nil {
			return err != nil && before == nil
		}
		return now.Size() == before.Size() && now.ModTime().Equal(before.ModTime()) && os.SameFile(now, before)
	})
}

// read takes the files' state before their content, so that what changes in between is read again.
func (r *Routes) read() error {
	info, err := os.Stat(r.file)
	if err != nil {
		return fmt.Errorf("reading the route file: %w", err)
	}
	text, err := os.ReadFile(r.file)
	if err != nil {
		return fmt.Errorf("reading the route file: %w", err)
	}
	var list struct {
		Routes []json.RawMessage `json:"routes"`
	}
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return fmt.Errorf("reading the route file %s: %w", r.file, err)
	}
	names, seen, known := []string{r.file}, []fs.FileInfo{info}, map[string]*delegate{}
	for i, text := range list.Routes {
		route, err := readRoute(text)
		if route.CAFile != "" {
			// One that is not there has no state until it is.
			state, _ := os.Stat(route.CAFile)
			names, seen = append(names, route.CAFile), append(seen, state)
		}
		var made *delegate
		if err == nil {
			made, err = route.delegate()
		}
		if err == nil && known[route.Name] != nil {
			made, err = known[route.Name], errors.New("its name is there twice, and the first counts")
		}
		if err != nil {
			r.log.Error(err, "A route of the route file is wrong; the others count", "file", r.file, "number", i+1, "route", route.Name)
			made = cmp.Or(made, known[route.Name], r.known[route.Name])
		}
		if made != nil {
			known[route.Name] = made
		}
	}
	for name, before := range r.known {
		if known[name] != before {
			before.client.CloseIdleConnections()
		}
	}
	r.known, r.names, r.seen, r.wrong = known, names, seen, ""
	return nil
}

func readRoute(text []byte) (route Route, err error) {
	return route, yaml.UnmarshalStrict(text, &route)
}

func (r Route) delegate() (*delegate, error) {
	base, err := url.Parse(r.URL)
	switch {
	case !routeForm.MatchString(r.Name):
		return nil, errors.New("its name has something else than lowercase letters, digits, dots and hyphens")
	case err != nil:
		return nil, err
	case base.Host == "" || strings.Trim(base.Path, "/") != "" || base.RawQuery != "" || base.User != nil || base.Fragment != "":
		return nil, fmt.Errorf("its url %q is not of the form https://host:port", r.URL)
	case base.Scheme == "http" && !isLoopback(base.Hostname()):
		return nil, fmt.Errorf("its url %q is not encrypted, and does not lead to this machine", r.URL)
	case base.Scheme != "https" && base.Scheme != "http":
		return nil, fmt.Errorf("its url %q is not of the form https://host:port", r.URL)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CAFile != "" {
		text, err := os.ReadFile(r.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading its certificates: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("its file %s has no certificate in PEM", r.CAFile)
		}
	}
	return &delegate{base: &url.URL{Scheme: base.Scheme, Host: base.Host}, client: &http.Client{
		Transport: &http.Transport{
			// Nobody is between the shim and a server of the cluster.
			Proxy: nil, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSClientConfig: config, TLSHandshakeTimeout: 2 * dialTimeout,
			MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeader, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}
