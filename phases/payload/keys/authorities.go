package keys

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// MachineConfigServer is the purpose of the authority that machines trust a machine-config server by: Secret <cluster>-mcs.
const MachineConfigServer = secret.Purpose("mcs")

// Purposes are those of all authorities, the one of service accounts included, which has a public key in the place of a certificate.
var Purposes = []secret.Purpose{secret.ClusterCA, secret.EtcdCA, secret.FrontProxyCA, secret.ServiceAccount, MachineConfigServer}

// short is how all keys are made but those of authorities that Cluster API has, too: it takes a hundredth of the time of RSA.
const short = bootstrapv1.EncryptionAlgorithmECDSAP256

// Authorities are those of a cluster, still empty: Lookup of them reads their Secrets, and SaveGenerated stores those that [Generate] has made.
func Authorities() secret.Certificates {
	var all secret.Certificates
	for _, purpose := range Purposes {
		all = append(all, &secret.Certificate{Purpose: purpose})
	}
	all.GetByPurpose(MachineConfigServer).KeyEncryptionAlgorithm = short
	return all
}

// Generate makes those of a cluster's authorities that are missing, side by side: their keys take most of the time of a payload, one as often
// twice as long as another.
func Generate(all secret.Certificates) error {
	var side errgroup.Group
	for _, one := range all {
		if one.KeyPair == nil {
			side.Go(one.Generate)
		}
	}
	return side.Wait()
}

// KeylessError is an authority whose key is not there, so that nobody can sign with it: somebody else issues its certificates.
type KeylessError struct{ Purpose secret.Purpose }

func (e KeylessError) Error() string {
	return fmt.Sprintf("the Secret <cluster>-%s has no %s, so no certificate can be signed by it; add the key of its authority, or "+
		"remove the Secret before anything was made by it", e.Purpose, secret.TLSKeyDataName)
}

// signer is an authority that can sign.
type signer struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// authority returns the certificate of an authority; its key is nil if it is not there.
func authority(all secret.Certificates, purpose secret.Purpose) (signer, error) {
	found := all.GetByPurpose(purpose)
	if found == nil || found.KeyPair == nil || len(found.KeyPair.Cert) == 0 {
		return signer{}, fmt.Errorf("the Secret <cluster>-%s has no %s; remove it, so that it is made anew", purpose, secret.TLSCrtDataName)
	}
	certificate, err := certs.DecodeCertPEM(found.KeyPair.Cert)
	if err != nil || !certificate.IsCA {
		return signer{}, fmt.Errorf("%s of the Secret <cluster>-%s is no certificate of an authority in PEM; mend it", secret.TLSCrtDataName, purpose)
	}
	if len(found.KeyPair.Key) == 0 {
		return signer{certificate: certificate}, nil
	}
	key, err := certs.DecodePrivateKeyPEM(found.KeyPair.Key)
	if err != nil {
		return signer{}, fmt.Errorf("%s of the Secret <cluster>-%s is no key in PEM; mend it", secret.TLSKeyDataName, purpose)
	}
	if !belongs(certificate, key) {
		return signer{}, fmt.Errorf("in the Secret <cluster>-%s, %s is not the key of %s; mend it", purpose, secret.TLSKeyDataName, secret.TLSCrtDataName)
	}
	return signer{certificate: certificate, key: key}, nil
}

// belongs says that a key is the one of a certificate.
func belongs(certificate *x509.Certificate, key crypto.Signer) bool {
	public, is := key.Public().(interface {
		Equal(other crypto.PublicKey) bool
	})
	return is && public.Equal(certificate.PublicKey)
}

// leaf reads a certificate and its key, and says whether they are what an authority has signed for all of these names.
func (s signer) leaf(pair Pair, c certs.Config) error {
	certificate, err := certs.DecodeCertPEM(pair.Certificate)
	if err != nil {
		return errors.New("it is no certificate in PEM")
	}
	key, err := certs.DecodePrivateKeyPEM(pair.Key)
	if err != nil || !belongs(certificate, key) {
		return errors.New("its key is another one")
	}
	if certificate.CheckSignatureFrom(s.certificate) != nil {
		return errors.New("its authority has not signed it")
	}
	for _, name := range c.AltNames.DNSNames {
		if certificate.VerifyHostname(name) != nil {
			return fmt.Errorf("it is not for %s", name)
		}
	}
	for _, ip := range c.AltNames.IPs {
		if certificate.VerifyHostname(ip.String()) != nil {
			return fmt.Errorf("it is not for %s", ip)
		}
	}
	return nil
}
