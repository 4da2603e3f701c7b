package images

import (
	"fmt"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Document is the content of a file or of a key of an object, with the place it came from, for messages.
type Document struct {
	From string
	Data []byte
}

// Access is how images are reached: credentials, trusted certificates and mirrors. Puller.Warning names what cannot be
// used of it; the rest is used.
type Access struct {
	// Credentials are in the form of a .dockerconfigjson. The most specific entry for a repository wins, whatever
	// document it is in; of equally specific ones, that of the first document.
	Credentials []Document
	// CAs are certificates in PEM that are trusted besides the system's.
	CAs []Document
	// Mirrors may name the same source several times.
	Mirrors []Mirrors
}

// access is an Access that is ready for use.
type access struct {
	caFile string            // read again for every attempt; empty for none
	given  http.RoundTripper // instead of a transport of our own; nil for none

	mu          sync.Mutex
	from        Access
	credentials credentials
	mirrors     []Mirrors
	trusted     []Document
	transport   *http.Transport
	outer       *http.Transport // for hosts that a registry names
	unused      []string        // what is wrong with from
	untrusted   []string        // what is wrong with the trusted certificates
}

// Use replaces the access, and tries all failed images now if it differs from the one before. It may be called at any
// time; pulls that are under way go on with the old access.
func (p *Puller) Use(a Access) {
	if p.access.use(a) {
		p.Retry()
	}
}

func (a *access) use(next Access) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if reflect.DeepEqual(a.from, next) {
		return false
	}
	a.from = next
	a.credentials, a.unused = parseCredentials(next.Credentials)
	a.mirrors = next.Mirrors
	a.trust()
	return true
}

// trust makes a new transport if the trusted certificates have changed.
func (a *access) trust() {
	wanted, unread := a.certificates()
	if a.transport != nil && reflect.DeepEqual(a.trusted, wanted) && len(unread) == 0 {
		return
	}
	a.dropTransport()
	roots, problems := trustedRoots(wanted)
	a.transport, a.outer = newTransport(roots), newOuterTransport(roots)
	a.trusted, a.untrusted = wanted, slices.Concat(unread, problems)
}

// certificates returns all certificates to be trusted besides the system's.
func (a *access) certificates() (all []Document, unread []string) {
	all = append(all, a.from.CAs...)
	if a.caFile == "" {
		return all, nil
	}
	data, err := os.ReadFile(a.caFile)
	if err != nil {
		return all, []string{fmt.Sprintf("the extra CA file cannot be read: %v; its certificates are not trusted", err)}
	}
	return append(all, Document{From: "the extra CA file " + a.caFile, Data: data}), nil
}

// now returns the access for one attempt.
func (a *access) now() (credentials, []Mirrors, transports) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trust()
	if a.given != nil {
		return a.credentials, a.mirrors, transports{a.given, a.given}
	}
	return a.credentials, a.mirrors, transports{a.transport, a.outer}
}

func (a *access) warning() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(slices.Concat(a.unused, a.untrusted), "; ")
}

func (a *access) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dropTransport()
}

func (a *access) dropTransport() {
	if a.transport != nil {
		a.transport.CloseIdleConnections()
		a.outer.CloseIdleConnections()
	}
}
