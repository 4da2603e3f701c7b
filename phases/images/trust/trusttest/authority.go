package trusttest

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"time"

	"github.com/capstan-capi/capstan/phases/images/trust"
)

// issuerExtension is where Fulcio writes who has vouched for the one who signs.
var issuerExtension = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 1}

// Authority issues certificates to those who sign.
type Authority struct {
	key         Key
	certificate *x509.Certificate
}

// NewAuthority makes one with a certificate that it has issued to itself.
func NewAuthority() Authority {
	key := NewKey()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, root, root, key.private.Public(), key.private)
	must(err)
	certificate, err := x509.ParseCertificate(der)
	must(err)
	return Authority{key, certificate}
}

// Root is its certificate in PEM.
func (a Authority) Root() []byte { return certificatePEM(a.certificate.Raw) }

// Certify issues a certificate, in PEM, to a key: for an email address, if issuer has vouched for it, which may be empty.
func (a Authority) Certify(key Key, email, issuer string) []byte {
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), EmailAddresses: []string{email}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
	}
	if issuer != "" {
		leaf.ExtraExtensions = []pkix.Extension{{Id: issuerExtension, Value: []byte(issuer)}}
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.certificate, key.private.Public(), a.key.private)
	must(err)
	return certificatePEM(der)
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Certified adds the certificate of who has signed.
func Certified(s trust.Signature, certificate []byte) trust.Signature {
	return with(s, certificateKey, string(certificate))
}
