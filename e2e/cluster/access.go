package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// UserAgent is what the cluster's own requests carry in the audit log.
const UserAgent = "e2e-cluster"

// adminUser is in the group administrators, which RBAC lets do everything.
const (
	adminUser      = "capstan-admin"
	administrators = "system:masters"
)

// Config is an administrator's access, without client-side rate limits. Each
// call returns a copy that the caller may change.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// ConfigFor is the access of any user, with exactly the rights that RBAC gives
// the user and groups. A service account is the user
// system:serviceaccount:<namespace>:<name>.
func (c *Cluster) ConfigFor(user string, groups ...string) (*rest.Config, error) {
	client, err := c.authority.client(user, groups...)
	if err != nil {
		return nil, fmt.Errorf("certifying user %s: %w", user, err)
	}
	return &rest.Config{
		Host:      c.url(),
		UserAgent: UserAgent,
		QPS:       -1,
		TLSClientConfig: rest.TLSClientConfig{
			CAData:   c.authority.bundle(),
			CertData: client.cert,
			KeyData:  client.key,
		},
	}, nil
}

// Kubeconfig is the path of a kubeconfig with an administrator's access.
func (c *Cluster) Kubeconfig() string { return filepath.Join(c.dir, adminKubeconfig) }

// Serving certifies a server to whoever trusts what the access of ConfigFor
// trusts: a certificate and its key, as PEM.
func (c *Cluster) Serving(hosts ...string) (certificate, key []byte, err error) {
	serving, err := c.authority.server(hosts...)
	if err != nil {
		return nil, nil, fmt.Errorf("certifying a server: %w", err)
	}
	return serving.cert, serving.key, nil
}

// KubeconfigFor writes a kubeconfig with the access of ConfigFor into the
// cluster's folder and returns its path.
func (c *Cluster) KubeconfigFor(user string, groups ...string) (string, error) {
	name := strings.NewReplacer(":", "-", "/", "-").Replace(user) + ".user.kubeconfig"
	return c.writeKubeconfig(name, user, groups...)
}

const adminKubeconfig = "admin.kubeconfig"

func (c *Cluster) writeKubeconfig(name, user string, groups ...string) (string, error) {
	client, err := c.authority.client(user, groups...)
	if err != nil {
		return "", fmt.Errorf("certifying user %s: %w", user, err)
	}
	const here = "capstan"
	config := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			here: {Server: c.url(), CertificateAuthorityData: c.authority.bundle()},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			here: {ClientCertificateData: client.cert, ClientKeyData: client.key},
		},
		Contexts: map[string]*clientcmdapi.Context{
			here: {Cluster: here, AuthInfo: here},
		},
		CurrentContext: here,
	}
	path := filepath.Join(c.dir, name)
	if err := clientcmd.WriteToFile(config, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of user %s: %w", user, err)
	}
	return path, nil
}

func (c *Cluster) url() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port.number) }

// writeCredentials puts everything that the processes read into the folder.
func (c *Cluster) writeCredentials(known *Identity) error {
	if known == nil {
		made, err := c.newIdentity()
		if err != nil {
			return err
		}
		known = made
	}
	proxying, err := c.frontProxy.client(frontProxy)
	if err != nil {
		return fmt.Errorf("certifying kube-apiserver as a front proxy: %w", err)
	}
	for name, content := range map[string][]byte{
		caFile:          c.authority.bundle(),
		servingCertFile: known.Serving.Certificate,
		servingKeyFile:  known.Serving.Key,
		accountKeyFile:  known.Accounts,
		auditPolicyFile: auditPolicy,
		proxyCAFile:     c.frontProxy.bundle(),
		proxyCertFile:   proxying.cert,
		proxyKeyFile:    proxying.key,
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	users := []struct {
		file, user string
		groups     []string
	}{
		{adminKubeconfig, adminUser, []string{administrators}},
		{kubeconfigFile(ControllerManager), "system:kube-controller-manager", nil},
		{kubeconfigFile(Scheduler), "system:kube-scheduler", nil},
		{kubeconfigFile(Kwok), "system:kwok", []string{administrators}},
	}
	for _, u := range users {
		if _, err := c.writeKubeconfig(u.file, u.user, u.groups...); err != nil {
			return err
		}
	}
	return nil
}

// newIdentity makes what kube-apiserver is known by, and the key of ServiceAccounts.
func (c *Cluster) newIdentity() (*Identity, error) {
	serving, err := c.authority.server("127.0.0.1", "localhost", serviceIP,
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return nil, fmt.Errorf("certifying kube-apiserver: %w", err)
	}
	accounts, err := newKey()
	if err != nil {
		return nil, fmt.Errorf("making the service account key: %w", err)
	}
	return &Identity{Serving: Pair{Certificate: serving.cert, Key: serving.key}, Accounts: accounts}, nil
}
