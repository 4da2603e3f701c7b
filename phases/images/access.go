package images

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/capstan-capi/capstan/phases/images/trust"
)

// Document is the content of a file or of a key of an object, with the place it came from, for messages.
type Document struct {
	From string
	Data []byte
}

// Access is how images are reached, and which of them may be: credentials, trusted certificates, mirrors and policies.
// Puller.Warning names what cannot be used of it; the rest is used.
type Access struct {
	// Credentials are in the form of a .dockerconfigjson. The most specific entry for a repository wins, whatever
	// document it is in; of equally specific ones, that of the first document.
	Credentials []Document
	// CAs are certificates in PEM that are trusted besides the system's.
	CAs []Document
	// HostCAs are trusted besides those for one registry each, as host[:port].
	HostCAs map[string]Document
	// Mirrors may name the same source several times.
	Mirrors []Mirrors
	// Allowed and Blocked are host[:port], that with a path, *.host for all hosts under one, or an image. An image must be under one
	// of Allowed, if there are any; a mirror need not be. No place under one of Blocked is asked.
	Allowed, Blocked []string
	// Policies say whose signatures images need.
	Policies trust.Policies
}

// access is an Access that is ready for use.
type access struct {
	caFile  string            // read again for every attempt, as soon as it is in its folder; empty for none
	instead http.RoundTripper // instead of a transport of our own; nil for none
	// networks are where transports lead no requests on to.
	networks *networks

	mu          sync.Mutex
	from        Access
	credentials credentials
	trusted     []Document
	carriers    carriers
	unused      []string // what is wrong with from
	untrusted   []string // what is wrong with the trusted certificates
}

// carriers are the transports to registries: those to hosts with certificates of their own, and those to all others.
type carriers struct {
	own    map[string]transports
	others transports
}

func (c carriers) to(host string) transports {
	if own, has := c.own[strings.ToLower(host)]; has {
		return own
	}
	return c.others
}

// Use replaces the access, and tries all failed images now if it differs from the one before. It may be called at any
// time; pulls that are under way go on with the old access. An image that the old policies have let in, and of which the
// new ones ask something else, is not ready any more when Use returns.
func (p *Puller) Use(a Access) {
	if p.access.use(a) {
		p.reconsider()
		p.Retry()
	}
}

func (a *access) use(next Access) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if reflect.DeepEqual(a.from, next) {
		return false
	}
	hosts := reflect.DeepEqual(a.from.HostCAs, next.HostCAs)
	a.from = next
	a.credentials, a.unused = parseCredentials(next.Credentials)
	a.trust(!hosts)
	return true
}

// trust makes new transports if the trusted certificates have changed.
func (a *access) trust(anew bool) {
	wanted, unread := a.certificates()
	if !anew && a.carriers.others.registry != nil && reflect.DeepEqual(a.trusted, wanted) && len(unread) == 0 {
		return
	}
	a.carriers.close()
	roots, problems := trustedRoots(wanted)
	a.carriers = carriers{own: map[string]transports{}, others: newTransports(roots, a.networks)}
	for _, host := range slices.Sorted(maps.Keys(a.from.HostCAs)) {
		both := slices.Concat(wanted, []Document{a.from.HostCAs[host]})
		roots, more := trustedRoots(both)
		a.carriers.own[strings.ToLower(host)] = newTransports(roots, a.networks)
		problems = append(problems, slices.DeleteFunc(more, func(problem string) bool { return slices.Contains(problems, problem) })...)
	}
	a.trusted, a.untrusted = wanted, slices.Concat(unread, problems)
}

// certificates returns all certificates to be trusted besides the system's.
func (a *access) certificates() (all []Document, unread []string) {
	all = append(all, a.from.CAs...)
	if a.caFile == "" {
		return all, nil
	}
	data, err := os.ReadFile(a.caFile)
	if os.IsNotExist(err) && isFolder(filepath.Dir(a.caFile)) {
		// It is mounted, and what is to fill it has not come yet, or never comes.
		return all, nil
	}
	if err != nil {
		return all, []string{fmt.Sprintf("the extra CA file cannot be read: %v; its certificates are not trusted", err)}
	}
	return append(all, Document{From: "the extra CA file " + a.caFile, Data: data}), nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// now returns the access for one attempt.
func (a *access) now() (Access, credentials, carriers) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trust(false)
	if a.instead != nil {
		return a.from, a.credentials, carriers{others: transports{a.instead, a.instead}}
	}
	return a.from, a.credentials, a.carriers
}

// given is what Use was given last.
func (a *access) given() Access {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.from
}

func (a *access) warning() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(slices.Concat(a.unused, a.untrusted), "; ")
}

func (a *access) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.carriers.close()
}

func (c carriers) close() {
	c.others.close()
	for _, own := range c.own {
		own.close()
	}
}
