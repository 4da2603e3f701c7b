package guest

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// vouched is whether the authority of a guest's API vouches for who answers by a kubeconfig, as long as neither Secret is another version.
type vouched struct {
	of string
	is bool
}

// vouch says of a sight by a kubeconfig who vouches for it; its ID was asked for before.
func (p *Poller) vouch(ctx context.Context, g *guest, by kubeconfig, want wanted, s *sight) (err error) {
	s.external, err = p.isExternal(ctx, g, by, s.clusterID, want)
	s.unvouched = by.ours && s.external
	return err
}

// isExternal says that nobody vouches for the cluster that a kubeconfig leads to, which says that it has an ID: then that has to be the one
// that was made. Whose a Secret is says no more than its text, which others may write. Once all is finished
// nobody is asked where either has no ID: nothing is marked by a guest's word any more, and another authority here must not lose it.
func (p *Poller) isExternal(ctx context.Context, g *guest, by kubeconfig, id string, want wanted) (bool, error) {
	if !by.ours || id != "" && id == want.clusterID || want.finished && (id == "" || want.clusterID == "") {
		return !by.ours, nil
	}
	key := client.ObjectKey{Namespace: want.cluster.Namespace, Name: secret.Name(want.cluster.Name, secret.ClusterCA)}
	is := &metav1.PartialObjectMetadata{}
	is.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	switch err := p.client.Get(ctx, key, is, client.UnsafeDisableDeepCopy); {
	case apierrors.IsNotFound(err): // the installer has made it, and keeps it to itself
		return id != "" && want.clusterID != "", nil
	case err != nil:
		return false, fmt.Errorf("looking for Secret %s: %w", key.Name, err)
	}
	of := by.version + " " + string(is.UID) + ":" + is.ResourceVersion
	g.mu.Lock()
	known := g.vouched
	g.mu.Unlock()
	if known.of == of {
		return !known.is, nil
	}
	stored := &corev1.Secret{}
	if err := p.live.Get(ctx, key, stored); err != nil {
		return false, fmt.Errorf("reading Secret %s: %w", key.Name, err)
	}
	known = vouched{of: of, is: by.trustsOnly(stored.Data[secret.TLSCrtDataName])}
	g.mu.Lock()
	g.vouched = known
	g.mu.Unlock()
	return !known.is, nil
}

// trustsOnly says that a kubeconfig takes nobody's word but that of an authority, in PEM.
func (k kubeconfig) trustsOnly(authority []byte) bool {
	by, err := certs.DecodeCertPEM(authority)
	if err != nil || by == nil || k.insecure {
		return false
	}
	trusted, err := certutil.ParseCertsPEM(k.authorities)
	if err != nil {
		return false
	}
	return !slices.ContainsFunc(trusted, func(c *x509.Certificate) bool { return !c.Equal(by) })
}
