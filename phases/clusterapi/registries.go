package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/images"
)

// Where OpenShift keeps what pulling images takes.
const (
	ConfigNamespace = "openshift-config"
	userCABundle    = "user-ca-bundle"
	PullSecret      = "pull-secret"

	userCABundleKey = "ca-bundle.crt"
)

// reachRegistries tells the puller how the cluster reaches registries and whose images it lets in, and what to keep in
// its cache.
func (p *Phases) reachRegistries(ctx context.Context, w world) error {
	puller, pulls := p.Images.(puller)
	if !pulls {
		return nil
	}
	var access images.Access
	for _, key := range p.PullSecrets {
		document, err := p.pullSecret(ctx, key)
		if err != nil {
			return err
		}
		access.Credentials = append(access.Credentials, document...)
	}
	access.Credentials = append(access.Credentials, p.credentials...)
	// The nodes trust it whether or not the cluster's proxy names it.
	bundle, key, err := p.certificates(ctx, userCABundle)
	if err != nil {
		return err
	}
	if bundle != nil {
		access.CAs = []images.Document{{From: key, Data: []byte(bundle[userCABundleKey])}}
	}
	if access.Mirrors, err = p.mirrors(ctx); err != nil {
		return err
	}
	if err := p.imageConfig(ctx, &access); err != nil {
		return err
	}
	if access.Policies, err = p.imagePolicies(ctx); err != nil {
		return err
	}
	puller.Use(access)
	var listed []images.Ref
	for _, entry := range w.entries() {
		listed = append(listed, entryRefs(&entry)...)
	}
	puller.Spare(listed)
	return nil
}

// certificates are the data of a ConfigMap in ConfigNamespace, nil if it is not there; from names it.
func (p *Phases) certificates(ctx context.Context, name string) (data map[string]string, from string, err error) {
	bundle, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: ConfigNamespace, Name: name}
	_, err = read(ctx, p.Client, key, bundle)
	return bundle.Data, "ConfigMap " + key.String(), err
}

// pullSecret is missed when it is not there, unless it is the one that every OpenShift cluster has and others need not.
func (p *Phases) pullSecret(ctx context.Context, key client.ObjectKey) ([]images.Document, error) {
	secret := &corev1.Secret{}
	found, err := read(ctx, p.Client, key, secret)
	if err != nil {
		return nil, err
	}
	if !found && key == (client.ObjectKey{Namespace: ConfigNamespace, Name: PullSecret}) {
		return nil, nil
	}
	return []images.Document{{From: "Secret " + key.String(), Data: secret.Data[corev1.DockerConfigJsonKey]}}, nil
}

// mirrors are those of all ImageDigestMirrorSets and of what they have come from, ImageContentSourcePolicies, by name.
// An ImageTagMirrorSet is about images by tag, of which there are none here.
func (p *Phases) mirrors(ctx context.Context) ([]images.Mirrors, error) {
	sets := &configv1.ImageDigestMirrorSetList{}
	if err := p.Client.List(ctx, sets); err != nil {
		return nil, fmt.Errorf("listing ImageDigestMirrorSets: %w", err)
	}
	policies := &operatorv1alpha1.ImageContentSourcePolicyList{}
	if err := p.Client.List(ctx, policies); err != nil {
		return nil, fmt.Errorf("listing ImageContentSourcePolicies: %w", err)
	}
	slices.SortFunc(sets.Items, func(a, b configv1.ImageDigestMirrorSet) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(policies.Items, func(a, b operatorv1alpha1.ImageContentSourcePolicy) int { return strings.Compare(a.Name, b.Name) })
	var all []images.Mirrors
	for _, set := range sets.Items {
		for _, of := range set.Spec.ImageDigestMirrors {
			mirrors := images.Mirrors{Source: of.Source, NeverSource: of.MirrorSourcePolicy == configv1.NeverContactSource}
			for _, mirror := range of.Mirrors {
				mirrors.Mirrors = append(mirrors.Mirrors, string(mirror))
			}
			all = append(all, mirrors)
		}
	}
	for _, policy := range policies.Items {
		for _, of := range policy.Spec.RepositoryDigestMirrors {
			all = append(all, images.Mirrors{Source: of.Source, Mirrors: of.Mirrors})
		}
	}
	return all, nil
}
