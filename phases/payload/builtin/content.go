package builtin

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
)

const (
	home   = "/opt/openshift"
	secret = 0o600
)

// releaseUnit fetches what a bootstrap needs first. It is harmless where another program does the same.
const releaseUnit = `[Unit]
Description=Fetch the release image of the cluster
Wants=network-online.target
After=network-online.target

[Service]
Type=oneshot
RemainAfterExit=true
Restart=on-failure
RestartSec=10
ExecStart=/usr/bin/podman pull --quiet --authfile /root/.docker/config.json %s

[Install]
WantedBy=multi-user.target
`

// content is all that the bootstrap machine gets.
func (c *composition) content() (ignition.Content, error) {
	var content ignition.Content
	add := func(path string, mode int, data []byte) {
		if len(data) > 0 {
			content.Files = append(content.Files, ignition.File{Path: path, Mode: mode, Data: data})
		}
	}
	merged, err := c.manifests()
	if err != nil {
		return content, err
	}
	files, err := payload.Files(merged)
	if err != nil {
		return content, err
	}
	for name, data := range files {
		add(path.Join(home, name), secret, data)
	}
	for name, data := range c.sealed() {
		add(path.Join(home, "tls", name), secret, data)
	}
	kubeconfig, err := c.kubeconfig()
	if err != nil {
		return content, err
	}
	config := &c.in.Config
	add(path.Join(home, "auth", "kubeconfig"), secret, kubeconfig)
	add(path.Join(home, "release-image"), 0o644, []byte(c.ReleaseImage+"\n"))
	add("/root/.docker/config.json", secret, []byte(config.PullSecret))
	add("/etc/pki/ca-trust/source/anchors/ca.crt", 0o644, []byte(config.AdditionalTrustBundle))
	add("/etc/containers/registries.conf.d/50-mirrors.conf", 0o644, mirrors(slices.Concat(config.ImageDigestSources, config.ImageContentSources)))
	add("/etc/systemd/system.conf.d/10-proxy.conf", secret, c.environment())
	content.Units = []ignition.Unit{{Name: "release-image.service", Contents: fmt.Sprintf(releaseUnit, c.ReleaseImage), Enabled: true}}
	content.SSHKeys = c.sshKeys()
	return content, nil
}

// sealed are the files of /opt/openshift/tls.
func (c *composition) sealed() map[string][]byte {
	k := &c.keys
	return map[string][]byte{
		"kube-ca.crt": k.ClusterCA.Certificate, "kube-ca.key": k.ClusterCA.Key,
		"etcd-signer.crt": k.EtcdCA.Certificate, "etcd-signer.key": k.EtcdCA.Key,
		"aggregator-signer.crt": k.FrontProxyCA.Certificate, "aggregator-signer.key": k.FrontProxyCA.Key,
		"service-account.pub": k.ServiceAccount.Certificate, "service-account.key": k.ServiceAccount.Key,
		"root-ca.crt": k.MachineConfigServerCA.Certificate, "root-ca.key": k.MachineConfigServerCA.Key,
		"machine-config-server.crt": k.MachineConfigServer.Certificate, "machine-config-server.key": k.MachineConfigServer.Key,
		"kube-apiserver.crt": k.APIServer.Certificate, "kube-apiserver.key": k.APIServer.Key,
	}
}

// kubeconfig is that of the cluster's administrator.
func (c *composition) kubeconfig() ([]byte, error) {
	name := c.in.Config.Metadata.Name
	at := url.URL{Scheme: "https", Host: c.Endpoint}
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: at.String(), CertificateAuthorityData: c.keys.ClusterCA.Certificate}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"admin": {ClientCertificateData: c.keys.Admin.Certificate, ClientKeyData: c.keys.Admin.Key}},
		Contexts:       map[string]*clientcmdapi.Context{"admin": {Cluster: name, AuthInfo: "admin"}},
		CurrentContext: "admin",
	})
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the bootstrap machine: it is no YAML")
	}
	return text, nil
}

// mirrors is the configuration of container runtimes for images that are pulled by digest.
func mirrors(sources []payload.Mirrors) []byte {
	bySource := map[string][]string{}
	for _, source := range sources {
		bySource[source.Source] = append(bySource[source.Source], source.Mirrors...)
	}
	var b strings.Builder
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		fmt.Fprintf(&b, "[[registry]]\nlocation = %q\nmirror-by-digest-only = true\n", source)
		for _, mirror := range bySource[source] {
			fmt.Fprintf(&b, "[[registry.mirror]]\nlocation = %q\n", mirror)
		}
	}
	return []byte(b.String())
}

// environment is the configuration of systemd that gives all units the proxy.
func (c *composition) environment() []byte {
	proxy := c.in.Config.Proxy
	if proxy == nil {
		return nil
	}
	var b strings.Builder
	b.WriteString("[Manager]\n")
	for _, one := range []struct{ name, value string }{
		{"HTTP_PROXY", proxy.HTTPProxy}, {"HTTPS_PROXY", proxy.HTTPSProxy}, {"NO_PROXY", strings.Join(c.direct(), ",")},
	} {
		if one.value != "" {
			// A % is one of systemd's own signs.
			fmt.Fprintf(&b, "DefaultEnvironment=%q\n", one.name+"="+strings.ReplaceAll(one.value, "%", "%%"))
		}
	}
	return []byte(b.String())
}

// direct are the names and networks that are reached without a proxy.
func (c *composition) direct() []string {
	all := []string{"localhost", "127.0.0.1", ".svc", ".cluster.local", c.internalName()}
	given := c.in.Config.Networking
	for _, pods := range given.ClusterNetwork {
		all = append(all, pods.CIDR)
	}
	all = append(all, given.ServiceNetwork...)
	for _, machines := range given.MachineNetwork {
		all = append(all, machines.CIDR)
	}
	for name := range strings.SplitSeq(c.in.Config.Proxy.NoProxy, ",") {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// firstAddress is that of the service kubernetes in a network, and empty for none.
func firstAddress(network string) string {
	prefix, err := netip.ParsePrefix(network)
	if err != nil {
		return ""
	}
	return prefix.Masked().Addr().Next().String()
}

// hostOf is the host of host:port.
func hostOf(endpoint string) string {
	at := url.URL{Host: endpoint}
	return at.Hostname()
}
