package clusterapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/images"
)

// Where OpenShift keeps what pulling images takes.
const (
	ConfigNamespace = "openshift-config"
	UserCABundle    = "user-ca-bundle"
	PullSecret      = "pull-secret"

	userCABundleKey = "ca-bundle.crt"
)

// reachRegistries tells the puller how the cluster reaches registries, and what to keep in its cache. Images that a
// kubelet mounts need none of that.
func (p *Phases) reachRegistries(ctx context.Context, w world) error {
	puller, pulls := p.Images.(*images.Puller)
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
	bundle := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: ConfigNamespace, Name: UserCABundle}
	found, err := read(ctx, p.Client, key, bundle)
	if err != nil {
		return err
	}
	if found {
		access.CAs = []images.Document{{From: "ConfigMap " + key.String(), Data: []byte(bundle.Data[userCABundleKey])}}
	}
	if access.Mirrors, err = p.mirrors(ctx); err != nil {
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

// mirrors are those of all ImageDigestMirrorSets, by the sets' names.
func (p *Phases) mirrors(ctx context.Context) ([]images.Mirrors, error) {
	list := &configv1.ImageDigestMirrorSetList{}
	if err := p.Client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing ImageDigestMirrorSets: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b configv1.ImageDigestMirrorSet) int { return strings.Compare(a.Name, b.Name) })
	var all []images.Mirrors
	for _, set := range list.Items {
		for _, of := range set.Spec.ImageDigestMirrors {
			mirrors := images.Mirrors{Source: of.Source, NeverSource: of.MirrorSourcePolicy == configv1.NeverContactSource}
			for _, mirror := range of.Mirrors {
				mirrors.Mirrors = append(mirrors.Mirrors, string(mirror))
			}
			all = append(all, mirrors)
		}
	}
	return all, nil
}
