package images

import (
	"context"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/images/trust"
)

const defaultCacheBytes = 512 << 20

// Options are what a Puller is made of; the zero value is a puller without cache for this machine's architecture.
// Credentials, certificates and mirrors come from Use.
type Options struct {
	// CacheDir keeps fetched images across restarts; empty: in memory only. It is made if it is not there.
	CacheDir string
	// CacheBytes is the size above which the cache drops images that are not wanted; 0: 512 MiB.
	CacheBytes int64
	// InsecureRegistries, as host[:port], may be spoken to without TLS if they do not speak it; loopback hosts always may.
	InsecureRegistries []string
	// InsecureCredentials has credentials sent without TLS too, where that is allowed; to loopback hosts they always are.
	InsecureCredentials bool
	// Arch is the architecture to choose in manifest lists, as linux/<arch>; empty: that of this process.
	Arch string
	// ExtraCAFile has certificates in PEM that are trusted besides the system's; it is read again for every attempt.
	ExtraCAFile string
	// Mounted finds the images that the kubelet has mounted, and their folders: they are read there and not pulled. It is
	// asked until it has answered once; nil: there are none.
	Mounted func(context.Context) (map[Ref]string, error)
	// Networks are those of the cluster's pods and services, where no registry may send requests on to. It is asked when
	// one sends on to another host, and again after ten minutes; nil: there are none.
	Networks func(context.Context) ([]netip.Prefix, error)
	// Transport sends the requests; nil: one of its own, with the proxy of the environment and the trusted certificates.
	Transport http.RoundTripper
	// Notify is called, from several goroutines, after every change of a state or of the warning except those that Want
	// makes. It must not block.
	Notify func()
	Clock  clock.Clock
	Log    logr.Logger
}

// Puller is the Source that pulls images from registries.
type Puller struct {
	*background
	cache      *cache
	access     *access
	registries *registries
	mounts     *mounts
	limits     limits
	// take makes of an image's folder what is kept of it; labelled: its layers are not read, only what its config says.
	labelled bool
	folder   string
	take     func(context.Context, *tree) (*Image, error)
}

var _ Source = (*Puller)(nil)

// NewPuller makes a puller that does nothing until it is started.
func NewPuller(o Options) *Puller {
	p := &Puller{
		background: newBackground(o.Notify, o.Clock, o.Log),
		cache:      &cache{dir: o.CacheDir, arch: o.Arch, most: o.CacheBytes, unsaved: map[string]error{}},
		access:     &access{caFile: o.ExtraCAFile, instead: o.Transport},
		registries: &registries{insecure: o.InsecureRegistries, insecureCredentials: o.InsecureCredentials},
		mounts:     &mounts{look: o.Mounted},
		limits:     standardLimits,
		folder:     ManifestsFolder,
		take:       profiled,
	}
	p.access.networks = newNetworks(o.Networks, p.clock)
	p.registries.networks = p.access.networks
	if p.cache.arch == "" {
		p.cache.arch = runtime.GOARCH
	}
	if p.cache.most == 0 {
		p.cache.most = defaultCacheBytes
	}
	p.recall, p.fetch, p.keep = p.cached, p.fetched, p.cache.store
	p.prove, p.admits = p.proven, p.admitted
	return p
}

// Start is described at Source.
func (p *Puller) Start(ctx context.Context) error {
	defer p.access.close()
	p.cache.open()
	return p.background.Start(ctx)
}

// Close ends the connections of a puller that is not started. It may be used again.
func (p *Puller) Close() { p.access.close() }

// Want is described at Source. Images that are wanted are never dropped from the cache.
func (p *Puller) Want(refs []Ref) {
	p.cache.want(refs)
	p.background.Want(refs)
}

// Spare keeps further images in the cache, if they are there: those of revisions that are listed but not needed now.
func (p *Puller) Spare(refs []Ref) { p.cache.spare(refs) }

// Warning is described at Source: it names images that could not be stored on disk, and credentials and certificates
// that cannot be used.
func (p *Puller) Warning() string {
	return message.Line(strings.Trim(p.cache.warning()+"; "+p.access.warning(), "; "))
}

// cached returns an image as the cache has it, and nil if it is not there or damaged.
func (p *Puller) cached(ref Ref) *Image {
	if _, err := ParseRef(string(ref)); err != nil {
		return nil
	}
	image, err := p.cache.load(ref)
	if err != nil {
		p.log.Info("cached provider image is damaged and fetched again", "image", ref, "error", err.Error())
	}
	return image
}

// fetched reads an image where it is mounted, or else pulls it.
func (p *Puller) fetched(ctx context.Context, ref Ref, had *Image) (*Image, error) {
	folder, err := p.mounts.folderOf(ctx, ref)
	switch {
	case err != nil:
		return nil, err
	case folder != "":
		return p.mounted(ctx, ref, folder)
	}
	return p.pulled(ctx, ref, had)
}

// pulled asks one place after the other for an image; of one whose content is there it fetches what it is judged by.
// Content that matched its digest is the same everywhere, so an error in the image itself ends the search, as one of the
// disk does, and a refusal by a policy. A place that is slow is left while another is untried, and asked again when none
// of those has the image.
func (p *Puller) pulled(ctx context.Context, ref Ref, had *Image) (*Image, error) {
	access, credentials, carriers := p.access.now()
	asks, refusal := access.admission(ref)
	if refusal != nil {
		return nil, refusal
	}
	if had != nil && asks.admits(had) {
		return had, nil
	}
	asked := asks.places
	var failures []*Error
	queue := slices.Clone(asked)
	for untried := len(asked) - 1; len(queue) > 0; untried-- {
		place, pace := queue[0], unhurried
		queue = queue[1:]
		inHurry := untried > 0
		switch {
		case len(asked) == 1:
			pace = alone(p.crowded)
		case inHurry:
			pace = hurried
		}
		image, err := p.pull(ctx, place, pace, p.registries.with(credentials, carriers.to(place.Host())), asks.rule, had)
		if err == nil {
			image.Ref = ref
			return image, nil
		}
		failure := about(ref, err)
		if failure.Terminal() || failure.Kind == KindDisk || failure.Kind == KindPolicy || ctx.Err() != nil {
			return nil, failure
		}
		failures = append(failures, &Error{Ref: place, Kind: failure.Kind, Err: failure.Err})
		if inHurry && tooSlow(failure) {
			queue = append(queue, place)
		}
	}
	return nil, noPlaceHas(failures, asks.sourceExcluded)
}

// pull judges an image before it reads a layer of it.
func (p *Puller) pull(ctx context.Context, place Ref, pace pace, registries *registries, rule *trust.Rule, had *Image) (*Image, error) {
	ctx, activity, end := watchActivity(ctx, p.clock, pace)
	defer end()
	repo, err := registries.open(ctx, place, activity)
	if err != nil {
		return nil, err
	}
	repo.folders = p.cache.spools()
	image, err := p.read(ctx, repo, place.Digest(), rule, had)
	if err != nil && ctx.Err() != nil {
		// What an end of the attempt looks like to a reader says nothing about the image.
		return nil, failure(ctx, repo.host, "image "+place.Digest(), ctx.Err())
	}
	return image, err
}

func (p *Puller) read(ctx context.Context, repo *repository, digest string, rule *trust.Rule, had *Image) (*Image, error) {
	m, err := repo.platform(ctx, digest, p.cache.arch)
	if err != nil {
		return nil, err
	}
	var evidence *trust.Evidence
	if rule != nil {
		if evidence, err = repo.evidence(ctx, m); err != nil {
			return nil, err
		}
		resume := repo.activity.pause()
		refusal := p.judge(ctx, rule, evidence)
		resume()
		if refusal != nil {
			return nil, refusal
		}
	}
	image := &Image{}
	switch {
	case had != nil:
		image.Profiles = had.Profiles
	case p.labelled:
		image, err = repo.labelled(ctx, m)
	default:
		image, err = p.unpacked(ctx, repo, m)
	}
	if err != nil {
		return nil, err
	}
	if rule != nil {
		image.evidence, image.proof = evidence, rule.ID
	}
	return image, nil
}

// unpacked reads all layers of an image, and keeps of it what take does.
func (p *Puller) unpacked(ctx context.Context, repo *repository, m *manifest) (*Image, error) {
	t := newTree(p.folder, p.limits)
	if err := repo.unpack(ctx, m, t); err != nil {
		return nil, err
	}
	return p.take(ctx, t)
}
