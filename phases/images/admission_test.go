package images

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/phases/images/trust"
	"github.com/capstan-capi/capstan/phases/images/trust/trusttest"
)

// askedOf is a policy of the cluster about a scope.
func askedOf(scope string, key trusttest.Key, identity *configv1.PolicyIdentity) Access {
	return Access{Policies: trust.Policies{{
		From: "ClusterImagePolicy test", Scopes: []configv1.ImageScope{configv1.ImageScope(scope)},
		Asks: configv1.ImageSigstoreVerificationPolicy{
			RootOfTrust: configv1.PolicyRootOfTrust{
				PolicyType: configv1.PublicKeyRootOfTrust, PublicKey: &configv1.ImagePolicyPublicKeyRootOfTrust{KeyData: key.Public()},
			},
			SignedIdentity: identity,
		},
	}}}
}

// attach makes signatures the attachment of a digest.
func (r *testRegistry) attach(digest string, signatures ...trust.Signature) {
	r.t.Helper()
	attached := empty.Image
	for _, s := range signatures {
		var err error
		attached, err = mutate.Append(attached, mutate.Addendum{
			Layer: static.NewLayer(s.Payload, types.MediaType(s.MIMEType)), Annotations: s.Annotations, MediaType: types.MediaType(s.MIMEType),
		})
		must(r.t, err)
	}
	must(r.t, remote.Write(r.repo().Tag(strings.Replace(digest, ":", "-", 1)+".sig"), attached))
}

// sign attaches what a key says of an image under its own name.
func (r *testRegistry) sign(ref Ref, key trusttest.Key) {
	r.t.Helper()
	name, _, _ := strings.Cut(string(ref), "@")
	r.attach(ref.Digest(), key.Sign(name+":v1", ref.Digest()))
}

func TestPuller_asks_for_no_signature_where_no_policy_is_about_an_image(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.breaks(".sig", answers(http.StatusInternalServerError, ""))
	p := runPuller(t, Options{})
	p.use(askedOf("other.test", trusttest.NewKey(), nil))
	p.Want([]Ref{ref})
	p.ready(ref)
}

func TestPuller_refuses_an_image_until_it_is_signed(t *testing.T) {
	r, key, other := newRegistry(t), trusttest.NewKey(), trusttest.NewKey()
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.breaks("/blobs/", answers(http.StatusInternalServerError, "")) // nothing of it is read
	p := runPuller(t, Options{CacheDir: t.TempDir()})
	p.use(askedOf(r.host, key, nil))
	p.Want([]Ref{ref})
	s, err := p.failed(ref)
	contains(t, err, string(ref), "ClusterImagePolicy test (scope "+r.host+")", "none is attached", "bundles by referrer are not read")
	if err.Kind != KindPolicy || err.Terminal() || s.NextTry.IsZero() {
		t.Errorf("the kind is %s, the next try %s", err.Kind, s.NextTry)
	}
	r.heal()
	r.sign(ref, other)
	p.Retry()
	s = p.await(ref, "the other key to be told", func(s State) bool {
		return s.Phase == Failed && strings.Contains(s.Err.Error(), "does not let it in")
	})
	contains(t, s.Err, "cryptographic signature verification failed", "change the policy")
	r.sign(ref, key)
	p.Retry()
	p.recovered(ref)
}

func TestPuller_takes_an_image_back_when_the_policy_changes_and_fetches_no_layer_again(t *testing.T) {
	r, old, next := newRegistry(t), trusttest.NewKey(), trusttest.NewKey()
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.sign(ref, old)
	p := runPuller(t, Options{CacheDir: t.TempDir()})
	p.use(askedOf(r.host, old, nil))
	p.Want([]Ref{ref})
	p.ready(ref)
	r.breaks("/blobs/"+layerOf(t, r, ref), answers(http.StatusInternalServerError, ""))

	p.use(askedOf(r.host, next, nil))
	if now := p.State(ref).Phase; now == Ready {
		t.Error("it is still ready under a policy that nobody has asked")
	}
	_, err := p.failed(ref)
	contains(t, err, "ClusterImagePolicy test")
	name, _, _ := strings.Cut(string(ref), "@")
	r.attach(ref.Digest(), old.Sign(name+":v1", ref.Digest()), next.Sign(name+":v1", ref.Digest()))
	p.Retry()
	if got := p.recovered(ref); string(got.Profiles[0].Manifests) != "a" {
		t.Errorf("got %v", got)
	}
	p.use(askedOf(r.host, old, nil)) // by what is at hand
	p.ready(ref)
	p.use(Access{})
	if now := p.State(ref).Phase; now != Ready {
		t.Errorf("without policies it is %s", now)
	}
}

func layerOf(t *testing.T, r *testRegistry, ref Ref) string {
	t.Helper()
	image, err := remote.Image(r.repo().Digest(ref.Digest()))
	must(t, err)
	layers, err := image.Layers()
	must(t, err)
	digest, err := layers[0].Digest()
	must(t, err)
	return digest.String()
}

// signedInCache is an image in the cache of a folder, with its signature, and the registry that it came from, which has ended.
func signedInCache(t *testing.T) (r *testRegistry, key trusttest.Key, ref Ref, dir string) {
	t.Helper()
	r, key, dir = newRegistry(t), trusttest.NewKey(), t.TempDir()
	ref = r.push(imageOf(t, profileAt(root+"/a", "a")))
	r.sign(ref, key)
	p := runPuller(t, Options{CacheDir: dir})
	p.use(askedOf(r.host, key, nil))
	p.Want([]Ref{ref})
	p.ready(ref)
	p.stop()
	r.stop()
	return r, key, ref, dir
}

func TestPuller_judges_a_cached_image_again_by_the_signatures_beside_it(t *testing.T) {
	r, key, ref, dir := signedInCache(t)
	other := trusttest.NewKey()

	again := runPuller(t, Options{CacheDir: dir})
	again.Recall([]Ref{ref})
	again.use(askedOf(r.host, key, nil))
	again.Want([]Ref{ref})
	again.ready(ref)
	again.stop()

	stricter := runPuller(t, Options{CacheDir: dir})
	stricter.Recall([]Ref{ref})
	stricter.use(askedOf(r.host, other, nil))
	stricter.Want([]Ref{ref})
	_, err := stricter.failed(ref)
	if err.Kind != KindNetwork {
		t.Errorf("it was not asked for other signatures: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("in the cache are %v", left)
	}
}

func TestPuller_recalls_only_what_the_policies_let_in(t *testing.T) {
	r, key, ref, dir := signedInCache(t)
	for _, c := range []struct {
		asks  Access
		ready bool
	}{{Access{}, true}, {askedOf(r.host, key, nil), true}, {askedOf(r.host, trusttest.NewKey(), nil), false}, {Access{Blocked: []string{r.host}}, false}} {
		p := NewPuller(Options{CacheDir: dir})
		p.Use(c.asks)
		p.Recall([]Ref{ref})
		if got := p.State(ref).Phase == Ready; got != c.ready {
			t.Errorf("under %+v it is ready: %t", c.asks, got)
		}
	}
}

func TestPuller_judges_a_cached_image_that_was_stored_without_signatures(t *testing.T) {
	r, key := newRegistry(t), trusttest.NewKey()
	ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
	dir := t.TempDir()
	p := runPuller(t, Options{CacheDir: dir})
	p.Want([]Ref{ref})
	p.ready(ref)
	p.stop()
	p = runPuller(t, Options{CacheDir: dir})
	p.use(askedOf(r.host, key, nil))
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "none is attached")
	r.sign(ref, key)
	p.Retry()
	p.recovered(ref)
	p.stop()
	r.stop()
	p = runPuller(t, Options{CacheDir: dir})
	p.use(askedOf(r.host, key, nil))
	p.Want([]Ref{ref})
	p.ready(ref)
}

func TestPuller_wants_the_image_for_the_platform_signed_not_the_list(t *testing.T) {
	r, key := newRegistry(t), trusttest.NewKey()
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := r.pushIndex(mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
	}))
	r.sign(ref, key)
	p := runPuller(t, Options{Arch: "amd64"})
	p.use(askedOf(r.host, key, nil))
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "none is attached")
	digest, problem := image.Digest()
	must(t, problem)
	r.sign(r.ref(digest), key)
	p.Retry()
	p.recovered(ref)
}

func TestPuller_takes_signatures_from_the_place_that_served_the_image(t *testing.T) {
	mirror, source, key := newRegistry(t), newRegistry(t), trusttest.NewKey()
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	mirrored := mirror.push(image)
	source.sign(ref, key)
	p := runPuller(t, Options{})
	access := askedOf(source.host, key, nil)
	access.Mirrors = []Mirrors{{Source: source.host, Mirrors: []string{mirror.host}}}
	p.use(access)
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "none is attached")

	mirror.sign(mirrored, key) // whoever mirrored it has signed it as what it is there
	p.Retry()
	s := p.await(ref, "the name to be told", func(s State) bool { return s.Phase == Failed && strings.Contains(s.Err.Error(), "identity") })
	contains(t, s.Err, mirror.host)
	access.Policies = askedOf(source.host, key, &configv1.PolicyIdentity{
		MatchPolicy: configv1.IdentityMatchPolicyRemapIdentity,
		PolicyMatchRemapIdentity: &configv1.PolicyMatchRemapIdentity{
			Prefix: configv1.IdentityRepositoryPrefix(source.host), SignedPrefix: configv1.IdentityRepositoryPrefix(mirror.host),
		},
	}).Policies
	p.use(access)
	p.recovered(ref)
}

func TestPuller_an_attachment_that_cannot_be_used_is_not_final(t *testing.T) {
	key := trusttest.NewKey()
	for name, c := range map[string]struct {
		breaks string
		answer http.HandlerFunc
		says   string
	}{
		"no manifest":         {".sig", answers(200, `{}`), "cannot be used"},
		"a list of manifests": {".sig", answers(200, `{"schemaVersion":2,"manifests":[]}`), "list of manifests"},
		"too long":            {".sig", answers(200, strings.Repeat(" ", attachmentBytes+1)), fmt.Sprint(attachmentBytes)},
		"a size below zero":   {".sig", answers(200, `{"schemaVersion":2,"layers":[{"size":-2,"digest":"`+someDigest+`"}]}`), "-2 bytes"},
		"no size at all":      {".sig", answers(200, `{"schemaVersion":2,"layers":[{"size":-1,"digest":"`+someDigest+`"}]}`), "-1 bytes"},
		"a large signature":   {".sig", answers(200, `{"schemaVersion":2,"layers":[{"size":1000000,"digest":"`+someDigest+`"}]}`), "1000000 bytes"},
		"many signatures": {
			".sig", answers(200, `{"schemaVersion":2,"layers":[`+strings.Repeat(`{},`, signaturesMost)+`{}]}`), "65 signatures",
		},
		"other bytes":        {"/blobs/", answers(200, `other`), "serves"},
		"a registry's fault": {".sig", answers(500, ``), "500"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			ref := r.push(imageOf(t, profileAt(root+"/a", "a")))
			r.sign(ref, key)
			r.breaks(c.breaks, c.answer)
			p := runPuller(t, Options{})
			p.use(askedOf(r.host, key, nil))
			p.Want([]Ref{ref})
			_, err := p.failed(ref)
			contains(t, err, c.says)
			if err.Terminal() {
				t.Errorf("it is final: %v", err)
			}
			r.heal()
			p.clock.Step(time.Minute)
			p.recovered(ref)
		})
	}
}

func TestPuller_asks_no_blocked_registry(t *testing.T) {
	mirror, source := newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	mirror.push(image)
	before := source.requests.Load()
	p := runPuller(t, Options{})
	p.use(Access{Blocked: []string{source.host}})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, "blockedRegistries of Image cluster", source.host, "mirror")
	p.use(Access{Blocked: []string{source.host + "/providers"}, Mirrors: []Mirrors{{Source: source.host, Mirrors: []string{mirror.host}}}})
	p.recovered(ref)
	if asked := source.requests.Load() - before; err.Kind != KindPolicy || err.Terminal() || asked != 0 {
		t.Errorf("a %s error, %d requests to the blocked registry", err.Kind, asked)
	}
	p.use(Access{Blocked: []string{source.host}})
	if now := p.State(ref).Phase; now == Ready {
		t.Error("it stays ready when no place may be asked for it")
	}
	p.use(Access{})
	p.recovered(ref)
}

func TestPuller_takes_only_what_is_allowed(t *testing.T) {
	mirror, source := newRegistry(t), newRegistry(t)
	image := imageOf(t, profileAt(root+"/a", "a"))
	ref := source.push(image)
	mirror.push(image)
	p := runPuller(t, Options{})
	p.use(Access{Allowed: []string{"quay.io", source.host + "/provider"}})
	p.Want([]Ref{ref})
	_, err := p.failed(ref)
	contains(t, err, source.host+"/providers/some is not under any of the allowedRegistries", "quay.io")
	// A mirror of what is allowed need not be.
	p.use(Access{Allowed: []string{source.host + "/providers"}, Mirrors: []Mirrors{{Source: source.host, Mirrors: []string{mirror.host}, NeverSource: true}}})
	p.recovered(ref)
}
