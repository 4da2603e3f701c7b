package keys

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"maps"
	"net"

	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	// ClusterIDKey is the key of the cluster's UUID among what is stored.
	ClusterIDKey = "cluster-id"

	mcsLeaf   = "machine-config-server"
	apiLeaf   = "kube-apiserver"
	adminLeaf = "admin"
)

// Names are what servers are reached at: DNS names or IP addresses.
type Names struct {
	MachineConfigServer []string
	APIServer           []string
}

// Pair is a certificate and its key, in PEM. For service accounts it is a public key.
type Pair struct{ Certificate, Key []byte }

// Material is all that a payload is sealed with.
type Material struct {
	ClusterCA, EtcdCA, FrontProxyCA, ServiceAccount, MachineConfigServerCA Pair
	MachineConfigServer, APIServer, Admin                                  Pair
	ClusterID                                                              string
}

// sealed is a certificate that an authority signs.
type sealed struct {
	name    string
	by      secret.Purpose
	with    certs.Config
	storeAs func(*Material) *Pair
}

func (n Names) certificates() []sealed {
	server := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	return []sealed{
		{
			mcsLeaf, MachineConfigServer,
			certs.Config{CommonName: "system:machine-config-server", AltNames: altNames(n.MachineConfigServer), Usages: server},
			func(m *Material) *Pair { return &m.MachineConfigServer },
		},
		{
			apiLeaf, secret.ClusterCA,
			certs.Config{CommonName: "system:kube-apiserver", AltNames: altNames(n.APIServer), Usages: server},
			func(m *Material) *Pair { return &m.APIServer },
		},
		{
			adminLeaf, secret.ClusterCA,
			certs.Config{CommonName: "system:admin", Organization: []string{"system:masters"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}},
			func(m *Material) *Pair { return &m.Admin },
		},
	}
}

func altNames(hosts []string) certs.AltNames {
	var names certs.AltNames
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			names.IPs = append(names.IPs, ip)
		} else {
			names.DNSNames = append(names.DNSNames, host)
		}
	}
	return names
}

func stored(in map[string][]byte, name string) Pair {
	return Pair{Certificate: in[name+".crt"], Key: in[name+".key"]}
}

// Complete returns what is to be stored, as the data of a Secret: what is stored already and right, and what it has made anew in
// place of all else. It is equal to what was given if nothing was missing. What it returns is stored before anything is made of it.
func Complete(had map[string][]byte, authorities secret.Certificates, n Names) (map[string][]byte, error) {
	all := maps.Clone(had)
	if all == nil {
		all = map[string][]byte{}
	}
	if len(all[ClusterIDKey]) == 0 {
		all[ClusterIDKey] = []byte(uuid.NewUUID())
	}
	for _, c := range n.certificates() {
		by, err := authority(authorities, c.by)
		if err != nil {
			return nil, err
		}
		if by.leaf(stored(all, c.name), c.with) == nil {
			continue
		}
		if by.key == nil {
			return nil, KeylessError{Purpose: c.by}
		}
		pair, err := by.sign(c)
		if err != nil {
			return nil, err
		}
		all[c.name+".crt"], all[c.name+".key"] = pair.Certificate, pair.Key
	}
	return all, nil
}

func (s signer) sign(c sealed) (Pair, error) {
	key, err := certs.NewSigner(short)
	if err != nil {
		return Pair{}, fmt.Errorf("making the key of %s: %w", c.name, err)
	}
	certificate, err := c.with.NewSignedCert(key, s.certificate, s.key)
	if err != nil {
		// What the library says holds all of the template.
		return Pair{}, fmt.Errorf("signing the certificate of %s by <cluster>-%s: the key of that does not sign", c.name, c.by)
	}
	text, err := certs.EncodePrivateKeyPEMFromSigner(key)
	if err != nil {
		return Pair{}, fmt.Errorf("writing the key of %s: it has no form in PEM", c.name)
	}
	return Pair{Certificate: certs.EncodeCertPEM(certificate), Key: text}, nil
}

// Read returns what is stored, and refuses what Complete would make anew.
func Read(had map[string][]byte, authorities secret.Certificates, n Names) (Material, error) {
	m := Material{ClusterID: string(had[ClusterIDKey])}
	if m.ClusterID == "" {
		return Material{}, fmt.Errorf("the stored certificates have no %s; have them completed", ClusterIDKey)
	}
	for purpose, pair := range map[secret.Purpose]*Pair{
		secret.ClusterCA: &m.ClusterCA, secret.EtcdCA: &m.EtcdCA, secret.FrontProxyCA: &m.FrontProxyCA, MachineConfigServer: &m.MachineConfigServerCA,
	} {
		if _, err := authority(authorities, purpose); err != nil {
			return Material{}, err
		}
		*pair = pairOf(authorities.GetByPurpose(purpose))
	}
	accounts := authorities.GetByPurpose(secret.ServiceAccount)
	if accounts == nil || accounts.KeyPair == nil || !bytes.Contains(accounts.KeyPair.Cert, []byte("PUBLIC KEY")) {
		return Material{}, fmt.Errorf("%s of the Secret <cluster>-%s is no public key in PEM; mend it", secret.TLSCrtDataName, secret.ServiceAccount)
	}
	m.ServiceAccount = pairOf(accounts)
	for _, c := range n.certificates() {
		by, err := authority(authorities, c.by)
		if err != nil {
			return Material{}, err
		}
		pair := stored(had, c.name)
		if err := by.leaf(pair, c.with); err != nil {
			return Material{}, fmt.Errorf("the stored certificate of %s cannot be used: %w; have the certificates completed", c.name, err)
		}
		*c.storeAs(&m) = pair
	}
	return m, nil
}

func pairOf(c *secret.Certificate) Pair { return Pair{Certificate: c.KeyPair.Cert, Key: c.KeyPair.Key} }
