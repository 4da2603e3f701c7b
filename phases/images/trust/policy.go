// Package trust judges whether the image policies of a cluster let an image in, as the container runtime of its nodes
// would: by the same code, on a manifest and signatures that somebody else has fetched. It refuses what it cannot
// evaluate, asks no registry and keeps nothing.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"go.podman.io/image/v5/docker/policyconfiguration"
	"go.podman.io/image/v5/docker/reference"
)

// Policy is a ClusterImagePolicy, or an ImagePolicy of the namespace that images are pulled for.
type Policy struct {
	// From names the object, for messages.
	From string
	// Namespaced policies count only for images that no policy of the cluster is about.
	Namespaced bool
	Scopes     []configv1.ImageScope
	Asks       configv1.ImageSigstoreVerificationPolicy
}

// Policies are those of a cluster, sorted by what they are from.
type Policies []Policy

// Rule is what the policies ask of one image: each of them has to be met.
type Rule struct {
	// ID is another one when something else is asked of the image.
	ID string

	image    reference.Named
	scope    string
	policies []Policy
}

// Of returns nil if nothing is asked of an image. Only the most specific scope that matches counts. A scope of a
// namespaced policy that is nested in one of a policy of the cluster counts for nothing, as the API says; of two scopes
// that match the same image one is nested in the other, so the cluster's go first.
func (all Policies) Of(image string) (*Rule, error) {
	if len(all) == 0 {
		return nil, nil
	}
	named, names, err := scopesOf(image)
	if err != nil {
		return nil, err
	}
	for _, namespaced := range []bool{false, true} {
		for _, scope := range names {
			if found := all.about(scope, namespaced); len(found) > 0 {
				return ruleOf(named, scope, found)
			}
		}
	}
	return nil, nil
}

// ScopesOf are the scopes that an image is under, the most specific first, as the container runtime's policy names them:
// the image, its repository, folders and host, and the wildcards of the host without its port.
func ScopesOf(image string) ([]string, error) {
	_, names, err := scopesOf(image)
	return names, err
}

func scopesOf(image string) (reference.Named, []string, error) {
	named, err := reference.ParseNamed(image)
	if err != nil {
		return nil, nil, refused("policies are about images with their registry's full name, and this one has none (%w)", err)
	}
	identity, err := policyconfiguration.DockerReferenceIdentity(named)
	if err != nil {
		return nil, nil, refused("policies cannot be applied to its name: %w", err)
	}
	return named, append([]string{identity}, policyconfiguration.DockerReferenceNamespaces(named)...), nil
}

func (all Policies) about(scope string, namespaced bool) (found []Policy) {
	for _, policy := range all {
		if policy.Namespaced != namespaced {
			continue
		}
		for _, s := range policy.Scopes {
			if string(s) == scope {
				found = append(found, policy)
				break
			}
		}
	}
	return found
}

func ruleOf(image reference.Named, scope string, policies []Policy) (*Rule, error) {
	asks := make([]configv1.ImageSigstoreVerificationPolicy, len(policies))
	for i := range policies {
		asks[i] = policies[i].Asks
	}
	text, err := json.Marshal(asks)
	if err != nil {
		return nil, fmt.Errorf("telling policies apart: %w", err)
	}
	sum := sha256.Sum256(text)
	return &Rule{ID: hex.EncodeToString(sum[:]), image: image, scope: scope, policies: policies}, nil
}

func (r *Rule) String() string {
	var names []string
	for _, policy := range r.policies {
		names = append(names, policy.From)
	}
	return fmt.Sprintf("%s (scope %s)", strings.Join(names, ", "), r.scope)
}

// RefusedError says why an image is not let in. It says nothing that the image's digest would settle for ever: a policy
// can be changed, and an image signed later.
type RefusedError struct{ err error }

func (e *RefusedError) Error() string { return e.err.Error() }

func (e *RefusedError) Unwrap() error { return e.err }

func refused(format string, args ...any) error {
	return &RefusedError{fmt.Errorf(format, args...)}
}
