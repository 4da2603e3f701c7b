package images

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/capstan-capi/capstan/message"
)

const (
	userAgent = "capstan"
	handshake = "the handshake at /v2/"
)

// registries opens repositories. It uses the handshake and the credentials of go-containerregistry, and reads
// manifests and blobs itself, so that wrong bytes and broken connections give errors of different types.
type registries struct {
	keychain            authn.Keychain
	transports          transports
	insecure            []string
	insecureCredentials bool
	networks            *networks
}

// repository is one repository of one registry, for the time of one attempt.
type repository struct {
	host     string
	auth     authn.Authenticator
	base     url.URL
	client   *http.Client
	activity *activity
	folders  []string // where layers are kept until they are verified
}

func (r *registries) with(keychain authn.Keychain, transports transports) *registries {
	return &registries{keychain: keychain, transports: transports, insecure: r.insecure, insecureCredentials: r.insecureCredentials, networks: r.networks}
}

func (r *registries) open(ctx context.Context, ref Ref, activity *activity) (*repository, error) {
	host := ref.Host()
	carrier := &registryTransport{registries: r, host: host}
	var options []name.Option
	if r.plainAllowed(host) {
		if carrier.noPlain = carrier.speaksTLS(ctx); carrier.noPlain == nil {
			options = append(options, name.Insecure)
		}
	}
	registry, err := name.NewRegistry(host, options...)
	if err != nil {
		return nil, fail(KindReference, "%q is not a registry's host: %w; write the reference as %s", host, err, refForm)
	}
	repo := registry.Repo(ref.Repository())
	auth, err := authn.Resolve(ctx, r.keychain, repo)
	if err != nil {
		return nil, fail(KindUnauthorized, "reading the credentials for %s: %w; check the pull secret", host, err)
	}
	carrier.clear = r.insecureCredentials || isLoopback(host) || auth == authn.Anonymous
	if len(options) > 0 && !carrier.clear {
		auth = withheld{authn.Anonymous}
	}
	client, err := transport.NewWithContext(ctx, registry, auth, carrier, []string{repo.Scope(transport.PullScope)})
	if err != nil {
		return nil, namingCredentials(auth, failure(ctx, host, handshake, err))
	}
	return &repository{
		host: host,
		auth: auth,
		// The transport that the handshake has made replaces the scheme where the registry speaks another.
		base:     url.URL{Scheme: "https", Host: registry.RegistryStr(), Path: "/v2/" + repo.RepositoryStr()},
		client:   &http.Client{Transport: client},
		activity: activity,
	}, nil
}

// get requests a manifest or a blob. The caller closes the body of the answer.
func (r *repository) get(ctx context.Context, what, digest string) (*http.Response, error) {
	u := r.base
	u.Path += "/" + what + "s/" + digest
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking for %s %s: %w", what, digest, err)
	}
	if what == manifestKind {
		request.Header.Set("Accept", strings.Join([]string{
			string(types.OCIManifestSchema1), string(types.OCIImageIndex),
			string(types.DockerManifestSchema2), string(types.DockerManifestList),
		}, ", "))
	}
	answer, err := r.client.Do(request)
	if err == nil {
		if err = transport.CheckError(answer, http.StatusOK); err == nil {
			r.activity.seen(0)
			return answer, nil
		}
		_ = answer.Body.Close()
	}
	// The URL of a redirected request may carry a signature.
	if call, ok := errors.AsType[*url.Error](err); ok {
		err = call.Err
	}
	return nil, namingCredentials(r.auth, failure(ctx, r.host, what+" "+digest, err))
}

// namingCredentials adds to a refusal which credentials the request was sent with, if any.
func namingCredentials(auth authn.Authenticator, err *Error) *Error {
	if err.Kind != KindUnauthorized {
		return err
	}
	if auth == authn.Anonymous {
		err.Err = fmt.Errorf("%w; no pull secret has an entry for it, so it was asked without credentials", err.Err)
	} else if _, ok := auth.(withheld); ok {
		err.Err = fmt.Errorf("%w; its credentials are not sent without TLS: give it a certificate, or allow that with --insecure-credentials", err.Err)
	} else if credential, ok := auth.(known); ok {
		err.Err = fmt.Errorf("%w; it was asked with those of %s", err.Err, credential.from)
	}
	return err
}

// failure turns the error of a request to a registry into an *Error that ends in a next step. what names
// what was requested.
func failure(ctx context.Context, host, what string, err error) *Error {
	if left, ok := errors.AsType[*leftError](context.Cause(ctx)); ok {
		return fail(KindNetwork, "registry %s: %w; check the network to it and its load", host, left)
	}
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if answer, ok := errors.AsType[*transport.Error](err); ok {
		return refusal(host, what, answer)
	}
	if plain, ok := errors.AsType[*plainHTTPError](err); ok {
		return fail(KindNetwork, "registry %s: %w", host, plain)
	}
	if inner, ok := errors.AsType[*innerError](err); ok {
		return fail(KindRegistry, "registry %s: %w", host, inner)
	}
	if unknown, ok := errors.AsType[*unknownNetworksError](err); ok {
		return fail(KindNetwork, "registry %s: %w", host, unknown)
	}
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fail(KindNetwork, "registry %s, or a proxy before it, presents a certificate that is not trusted: %w; "+
			"add the authority that issued it to ConfigMap openshift-config/user-ca-bundle, to the additionalTrustedCA of Image cluster "+
			"(images.config.openshift.io) or to the file of --extra-ca-file", host, untrusted.Err)
	}
	if _, ok := errors.AsType[*sentError](err); !ok {
		// It quotes an answer that may have a token in it.
		return fail(KindRegistry, "registry %s cannot be used at %s: it, or its token server, answers with no token that can be used; "+
			"look into the registry's own log", host, what)
	}
	return fail(KindNetwork, "registry %s cannot be reached or broke the connection at %s: %w; "+
		"check that the name resolves, the registry runs, and no proxy, firewall or certificate is in the way", host, what, err)
}

func refusal(host, what string, answer *transport.Error) *Error {
	said := fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	// What another host answers, such as a token server, is not repeated.
	if from := answer.Request; from != nil && strings.EqualFold(from.URL.Host, host) && strings.HasPrefix(from.URL.Path, "/v2/") && len(answer.Errors) > 0 {
		said += ", " + message.Shorten(answer.Errors[0].String(), 160)
	}
	switch {
	case answer.StatusCode == http.StatusUnauthorized, answer.StatusCode == http.StatusForbidden:
		return fail(KindUnauthorized, "registry %s refused %s (%s); check that the pull secret has credentials for it with "+
			"the right to pull, and that the repository exists, as some registries answer so when it does not", host, what, said)
	case answer.StatusCode == http.StatusNotFound && what != handshake:
		return fail(KindNotFound, "registry %s does not have %s (%s); check that the release was pushed or mirrored there completely", host, what, said)
	default:
		return fail(KindRegistry, "registry %s failed on %s (%s); look into the registry's own log", host, what, said)
	}
}
