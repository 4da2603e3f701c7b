package images

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/utils/clock"
)

const defaultCacheBytes = 512 << 20

// Options are what a Puller is made of; the zero value is a puller without cache and credentials for this machine's
// architecture.
type Options struct {
	// CacheDir keeps fetched images across restarts; empty: in memory only. It is made if it is not there.
	CacheDir string
	// CacheBytes is what the cache may have before images that are not wanted are dropped; 0: 512 MiB.
	CacheBytes int64
	// InsecureRegistries, as host[:port], may be spoken to without TLS; loopback hosts always may.
	InsecureRegistries []string
	// Arch is chosen in manifest lists, as linux/<arch>; empty: that of this process.
	Arch string
	// Keychain gives the credentials per repository; nil: anonymous.
	Keychain authn.Keychain
	// Transport sends the requests; nil: one of its own, with the proxy of the environment.
	Transport http.RoundTripper
	// Notify is called after every change of a state or of the warning that Want has not made, from several goroutines;
	// it must not block.
	Notify func()
	Clock  clock.Clock
	Log    logr.Logger
}

// Puller is the Source that pulls images from registries.
type Puller struct {
	*background
	cache      *cache
	registries *registries
	limits     limits
	close      func()
}

var _ Source = (*Puller)(nil)

// NewPuller makes a puller that does nothing until it is started.
func NewPuller(o Options) *Puller {
	p := &Puller{
		background: newBackground(o.Notify, o.Clock, o.Log),
		cache:      &cache{dir: o.CacheDir, arch: o.Arch, most: o.CacheBytes, unsaved: map[string]error{}},
		registries: &registries{keychain: o.Keychain, transport: o.Transport, insecure: o.InsecureRegistries},
		limits:     standardLimits,
		close:      func() {},
	}
	if p.cache.arch == "" {
		p.cache.arch = runtime.GOARCH
	}
	if p.cache.most == 0 {
		p.cache.most = defaultCacheBytes
	}
	if p.registries.keychain == nil {
		p.registries.keychain = authn.NewMultiKeychain()
	}
	if p.registries.transport == nil {
		own := newTransport()
		p.registries.transport, p.close = own, own.CloseIdleConnections
	}
	p.fetch, p.keep = p.load, p.cache.store
	return p
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   parallelism,
		IdleConnTimeout:       10 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}
}

// Start is described at Source.
func (p *Puller) Start(ctx context.Context) error {
	defer p.close()
	p.cache.open()
	return p.background.Start(ctx)
}

// Want is described at Source. Images that are wanted are never dropped from the cache.
func (p *Puller) Want(refs []Ref) {
	p.cache.want(refs)
	p.background.Want(refs)
}

// Warning is described at Source: it tells of images that could not be stored on disk.
func (p *Puller) Warning() string { return p.cache.warning() }

func (p *Puller) load(ctx context.Context, ref Ref) (*Image, error) {
	profiles, err := p.cache.load(ref)
	if err != nil {
		p.log.Info("cached provider image is damaged and fetched again", "image", ref, "error", err.Error())
	}
	if profiles != nil {
		return &Image{Ref: ref, Profiles: profiles, cached: true}, nil
	}
	if profiles, err = p.pull(ctx, ref); err != nil {
		return nil, err
	}
	return &Image{Ref: ref, Profiles: profiles}, nil
}

func (p *Puller) pull(ctx context.Context, ref Ref) ([]Profile, error) {
	ctx, signs, end := watchSigns(ctx, p.clock)
	defer end()
	repo, err := p.registries.open(ctx, ref, signs)
	if err != nil {
		return nil, err
	}
	return repo.pull(ctx, ref.Digest(), p.cache.arch, p.limits)
}
