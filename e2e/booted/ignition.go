package booted

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// Where a bootstrap finds what it needs.
const (
	home           = "/opt/openshift"
	tlsFolder      = home + "/tls/"
	kubeconfigPath = home + "/auth/kubeconfig"
)

// disk is what Ignition writes to a machine: the content of each file by its path.
type disk map[string][]byte

// provisioned writes an Ignition config to an empty disk.
func provisioned(config []byte) (disk, error) {
	var read types.Config
	if err := json.Unmarshal(config, &read); err != nil {
		return nil, fmt.Errorf("reading an Ignition config: %w", err)
	}
	written := disk{}
	for _, file := range read.Storage.Files {
		if file.Contents.Source == nil {
			continue
		}
		content, err := dataurl.DecodeString(*file.Contents.Source)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", file.Path, err)
		}
		written[file.Path] = content.Data
	}
	return written, nil
}

// pair is a certificate of the folder of certificates, with its key.
func (d disk) pair(name string) cluster.Pair {
	return cluster.Pair{Certificate: d[tlsFolder+name+".crt"], Key: d[tlsFolder+name+".key"]}
}

func (d disk) identity() *cluster.Identity {
	return &cluster.Identity{
		Authority: d.pair("kube-ca"), FrontProxy: d.pair("aggregator-signer"), Serving: d.pair("kube-apiserver"),
		Accounts: d[tlsFolder+"service-account.key"],
	}
}

// port is where the API is to be served, by the administrator's kubeconfig.
func (d disk) port() (int, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(d[kubeconfigPath])
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", kubeconfigPath, err)
	}
	at, err := url.Parse(config.Host)
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", kubeconfigPath, err)
	}
	return strconv.Atoi(at.Port())
}

// Pointer is where a machine gets the rest of its configuration, and the certificates, as PEM, that it trusts there.
type Pointer struct {
	URL    string
	Trusts []byte
}

// PointerOf reads the Ignition config of a machine that gets nothing but a pointer.
func PointerOf(config []byte) (Pointer, error) {
	var read types.Config
	if err := json.Unmarshal(config, &read); err != nil {
		return Pointer{}, fmt.Errorf("reading an Ignition config: %w", err)
	}
	merged, trusted := read.Ignition.Config.Merge, read.Ignition.Security.TLS.CertificateAuthorities
	if len(merged) != 1 || merged[0].Source == nil || len(trusted) != 1 || trusted[0].Source == nil || len(read.Storage.Files) > 0 {
		return Pointer{}, errors.New("it is no pointer to one server with one authority")
	}
	authority, err := dataurl.DecodeString(*trusted[0].Source)
	if err != nil {
		return Pointer{}, fmt.Errorf("reading the authority of a pointer: %w", err)
	}
	return Pointer{URL: *merged[0].Source, Trusts: authority.Data}, nil
}
