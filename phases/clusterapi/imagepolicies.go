package clusterapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/images/trust"
)

// imageConfig adds what Image cluster says of registries.
func (p *Phases) imageConfig(ctx context.Context, access *images.Access) error {
	config := &configv1.Image{}
	if _, err := read(ctx, p.Client, client.ObjectKey{Name: Singleton}, config); err != nil {
		return err
	}
	access.Allowed, access.Blocked = config.Spec.RegistrySources.AllowedRegistries, config.Spec.RegistrySources.BlockedRegistries
	name := config.Spec.AdditionalTrustedCA.Name
	if name == "" {
		return nil
	}
	certificates, from, err := p.certificates(ctx, name)
	if err != nil {
		return err
	}
	access.HostCAs = map[string]images.Document{}
	for key, data := range certificates {
		// A key cannot have a colon.
		host := strings.Replace(key, "..", ":", 1)
		access.HostCAs[host] = images.Document{From: "key " + key + " of " + from, Data: []byte(data)}
	}
	return nil
}

// imagePolicies are those of the cluster, and those of the namespace that the operator runs in: its images are pulled for
// the operator.
func (p *Phases) imagePolicies(ctx context.Context) (trust.Policies, error) {
	var all trust.Policies
	cluster := &configv1.ClusterImagePolicyList{}
	if err := p.Client.List(ctx, cluster); err != nil {
		return nil, fmt.Errorf("listing ClusterImagePolicies: %w", err)
	}
	for _, policy := range cluster.Items {
		all = append(all, trust.Policy{From: "ClusterImagePolicy " + policy.Name, Scopes: policy.Spec.Scopes, Asks: policy.Spec.Policy})
	}
	own := &configv1.ImagePolicyList{}
	if err := p.Client.List(ctx, own, client.InNamespace(p.OperatorNamespace)); err != nil {
		return nil, fmt.Errorf("listing ImagePolicies: %w", err)
	}
	for _, policy := range own.Items {
		all = append(all, trust.Policy{
			From: "ImagePolicy " + policy.Namespace + "/" + policy.Name, Namespaced: true, Scopes: policy.Spec.Scopes, Asks: policy.Spec.Policy,
		})
	}
	slices.SortFunc(all, func(a, b trust.Policy) int { return cmp.Compare(a.From, b.From) })
	return all, nil
}
