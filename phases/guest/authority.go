package guest

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// short is how the key of a kubeconfig is made: it takes a hundredth of the time of RSA.
const short = capikubeconfig.KeyEncryptionAlgorithm(bootstrapv1.EncryptionAlgorithmECDSAP256)

// signer is the authority of a guest's API, with its key.
type signer struct {
	// name is that of its Secret.
	name        string
	certificate *x509.Certificate
	key         crypto.Signer
}

// authority reads the one of the guest's API. It is nil where there is none, or its key is not there: then somebody else issues
// certificates.
func (s *Seen) authority(ctx context.Context) (*signer, error) {
	found, err := secret.Get(ctx, s.p.live, client.ObjectKeyFromObject(s.look.Cluster), secret.ClusterCA)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading the authority of Cluster %s: %w", s.look.Cluster.Name, err)
	case len(found.Data[secret.TLSKeyDataName]) == 0:
		return nil, nil
	}
	made := &signer{name: found.Name}
	if made.certificate, err = certs.DecodeCertPEM(found.Data[secret.TLSCrtDataName]); err != nil || made.certificate == nil {
		return nil, fmt.Errorf("%s of Secret %s is no certificate in PEM; mend it", secret.TLSCrtDataName, found.Name)
	}
	if made.key, err = certs.DecodePrivateKeyPEM(found.Data[secret.TLSKeyDataName]); err != nil || made.key == nil {
		return nil, fmt.Errorf("%s of Secret %s is no key in PEM; mend it", secret.TLSKeyDataName, found.Name)
	}
	return made, nil
}

// hasIssued says that a kubeconfig trusts the authority, and that its certificate is of it.
func (a *signer) hasIssued(k kubeconfig) bool {
	if !a.hasSigned(k) {
		return false
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(k.authorities)
	_, err := a.certificate.Verify(x509.VerifyOptions{Roots: trusted, CurrentTime: a.certificate.NotBefore, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}

// hasSigned says that the certificate of a kubeconfig is of the authority, whomever it trusts.
func (a *signer) hasSigned(k kubeconfig) bool {
	return k.certificate != nil && k.certificate.CheckSignatureFrom(a.certificate) == nil
}

// kubeconfig makes one for a Cluster.
func (a *signer) kubeconfig(cluster, server string) ([]byte, error) {
	config, err := capikubeconfig.New(cluster, server, a.certificate, a.key, short)
	if err != nil {
		return nil, fmt.Errorf("signing a certificate by Secret %s: its key does not sign", a.name)
	}
	return clientcmd.Write(*config)
}
