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

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
)

// vouched is whether the authority of a guest's API vouches for who answers by a kubeconfig, as long as neither Secret is another version.
type vouched struct {
	of string
	is bool
}

// vouch finds out for a sight by a kubeconfig who vouches for it, unless the ID of the cluster that was made does.
func (p *Poller) vouch(ctx context.Context, g *guest, by kubeconfig, want wanted, s *sight) (err error) {
	if by.ours && s.who.ID != "" && s.who.ID == want.clusterID {
		return nil
	}
	s.who.Authority, err = p.authorityOf(ctx, g, by, want)
	return err
}

// authorityOf is whose word a kubeconfig takes. Whose its Secret is says no more than its text, which others may write.
func (p *Poller) authorityOf(ctx context.Context, g *guest, by kubeconfig, want wanted) (guards.Authority, error) {
	if !by.ours {
		return guards.External, nil
	}
	key := client.ObjectKey{Namespace: want.cluster.Namespace, Name: secret.Name(want.cluster.Name, secret.ClusterCA)}
	is := &metav1.PartialObjectMetadata{}
	is.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	switch err := p.client.Get(ctx, key, is, client.UnsafeDisableDeepCopy); {
	case apierrors.IsNotFound(err): // the installer has made it, and keeps it to itself
		return guards.Absent, nil
	case err != nil:
		return "", fmt.Errorf("looking for Secret %s: %w", key.Name, err)
	}
	of := by.version + " " + string(is.UID) + ":" + is.ResourceVersion
	g.mu.Lock()
	known := g.vouched
	g.mu.Unlock()
	if known.of == of {
		return known.authority(), nil
	}
	stored := &corev1.Secret{}
	if err := p.live.Get(ctx, key, stored); err != nil {
		return "", fmt.Errorf("reading Secret %s: %w", key.Name, err)
	}
	known = vouched{of: of, is: by.trustsOnly(stored.Data[secret.TLSCrtDataName])}
	g.mu.Lock()
	g.vouched = known
	g.mu.Unlock()
	return known.authority(), nil
}

func (v vouched) authority() guards.Authority {
	if v.is {
		return guards.Vouched
	}
	return guards.Another
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
