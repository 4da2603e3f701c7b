package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime, before now and after, outlasts any test and any demonstration left running, also of operators whose clock is set
// back and forward.
const lifetime = 30 * 24 * time.Hour

// authority is a certificate authority that lives in memory: its key is never
// written to disk.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// pair is a certificate and its key, both as PEM.
type pair struct {
	cert, key []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of authority %s: %w", name, err)
	}
	template, err := certificateFor(pkix.Name{CommonName: name})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("signing authority %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("reading authority %s back: %w", name, err)
	}
	return &authority{cert: cert, key: key}, nil
}

// givenAuthority is one that somebody else has made, of its certificate and key as PEM.
func givenAuthority(made Pair) (*authority, error) {
	read, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		return nil, fmt.Errorf("reading an authority: %w", err)
	}
	key, is := read.PrivateKey.(crypto.Signer)
	if !is {
		return nil, errors.New("reading an authority: its key signs nothing")
	}
	return &authority{cert: read.Leaf, key: key}, nil
}

// bundle is what a client needs to trust this authority, as PEM.
func (a *authority) bundle() []byte { return encode("CERTIFICATE", a.cert.Raw) }

// bundle64 is the bundle as an object holds it.
func (a *authority) bundle64() string { return base64.StdEncoding.EncodeToString(a.bundle()) }

// client certifies a user and groups, the way kube-apiserver reads them.
func (a *authority) client(user string, groups ...string) (pair, error) {
	template, err := certificateFor(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// server certifies host names and IP addresses.
func (a *authority) server(hosts ...string) (pair, error) {
	template, err := certificateFor(pkix.Name{CommonName: hosts[0]})
	if err != nil {
		return pair{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, fmt.Errorf("making the key of %s: %w", template.Subject, err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return pair{}, fmt.Errorf("signing %s: %w", template.Subject, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{cert: encode("CERTIFICATE", der), key: keyPEM}, nil
}

// newKey makes a signing key alone, as service account tokens need it.
func newKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a signing key: %w", err)
	}
	return encodeKey(key)
}

func certificateFor(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("choosing a serial number for %s: %w", subject, err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      subject,
		NotBefore:    now.Add(-lifetime),
		NotAfter:     now.Add(lifetime),
	}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a private key: %w", err)
	}
	return encode("EC PRIVATE KEY", der), nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
