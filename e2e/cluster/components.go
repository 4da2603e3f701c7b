package cluster

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"time"
)

// Component is one process of the control plane, named as its program is.
type Component string

// The components of a cluster.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kwok              Component = "kwok"
)

// stopOrder is the reverse of what needs what: a kube-apiserver whose etcd is
// gone neither answers nor ends in time.
var stopOrder = []Component{Kwok, Scheduler, ControllerManager, APIServer, Etcd}

// grace is how long a component may take to end before it is killed.
var grace = map[Component]time.Duration{
	Kwok:              5 * time.Second,
	Scheduler:         5 * time.Second,
	ControllerManager: 5 * time.Second,
	APIServer:         10 * time.Second,
	Etcd:              10 * time.Second,
}

// Files of a cluster's folder. Processes run inside the folder and are given
// relative paths, so that a long folder name cannot exceed the length that
// unix sockets allow.
const (
	etcdSocket      = "etcd.sock"
	auditLogFile    = "audit.log"
	auditPolicyFile = "audit-policy.yaml"
	caFile          = "ca.crt"
	servingCertFile = "apiserver.crt"
	servingKeyFile  = "apiserver.key"
	accountKeyFile  = "service-accounts.key"
	proxyCAFile     = "front-proxy-ca.crt"
	proxyCertFile   = "front-proxy-client.crt"
	proxyKeyFile    = "front-proxy-client.key"
)

//go:embed audit-policy.yaml
var auditPolicy []byte

// serviceRange is where Service addresses come from; serviceIP is the one that
// the kubernetes Service always gets.
const (
	serviceRange = "10.96.0.0/16"
	serviceIP    = "10.96.0.1"
	podRange     = "10.244.0.0/16"
)

func kubeconfigFile(c Component) string { return string(c) + ".kubeconfig" }

// command is the program and arguments of one component.
func (c *Cluster) command(component Component) []string {
	program := filepath.Join(c.binaries, controlPlaneBinary)
	switch component {
	case Etcd:
		return append([]string{program, "etcd"}, etcdArguments()...)
	case APIServer:
		return append([]string{program, "kube-apiserver"}, apiServerArguments(c.port.number)...)
	case ControllerManager:
		return append([]string{program, "kube-controller-manager"}, controllerManagerArguments(c.managerPort.number)...)
	case Scheduler:
		return append([]string{program, "kube-scheduler"}, schedulerArguments()...)
	case Kwok:
		return append([]string{filepath.Join(c.binaries, kwokBinary)}, kwokArguments()...)
	default:
		panic(fmt.Sprintf("no such component: %q", component))
	}
}

func etcdArguments() []string {
	return []string{
		"--data-dir=" + etcdData,
		"--listen-client-urls=unix://" + etcdSocket,
		// etcd refuses to advertise a unix socket, and nobody asks it where it is.
		"--advertise-client-urls=http://127.0.0.1:0",
		"--listen-peer-urls=http://127.0.0.1:0",
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

func apiServerArguments(port int) []string {
	return []string{
		"--etcd-servers=unix://" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--permit-port-sharing",
		// A loopback address is not allowed in Endpoints, and no pod here runs.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceRange,
		// Without it a shutdown waits a minute for the clients to end their watches.
		"--shutdown-watch-termination-grace-period=2s",
		"--authorization-mode=RBAC",
		"--client-ca-file=" + caFile,
		"--tls-cert-file=" + servingCertFile,
		"--tls-private-key-file=" + servingKeyFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + accountKeyFile,
		"--service-account-signing-key-file=" + accountKeyFile,
		// Who it passes requests on to trusts it by this certificate, and believes
		// whom it says that it asks for.
		"--requestheader-client-ca-file=" + proxyCAFile,
		"--requestheader-allowed-names=" + frontProxy,
		"--requestheader-username-headers=" + remoteUser,
		"--requestheader-group-headers=" + remoteGroup,
		"--requestheader-extra-headers-prefix=" + remoteExtra,
		"--proxy-client-cert-file=" + proxyCertFile,
		"--proxy-client-key-file=" + proxyKeyFile,
		"--audit-policy-file=" + auditPolicyFile,
		"--audit-log-path=" + auditLogFile,
		// Zero turns rotation off: a request counted is a line still there.
		"--audit-log-maxsize=0",
		"--profiling=false",
	}
}

func controllerManagerArguments(port int) []string {
	return []string{
		"--kubeconfig=" + kubeconfigFile(ControllerManager),
		"--service-account-private-key-file=" + accountKeyFile,
		"--root-ca-file=" + caFile,
		"--use-service-account-credentials",
		"--leader-elect=false",
		// Its metrics are served to whoever asks on this machine.
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--permit-port-sharing",
		"--tls-cert-file=" + servingCertFile,
		"--tls-private-key-file=" + servingKeyFile,
		"--authentication-skip-lookup",
		"--authorization-always-allow-paths=/metrics",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		// A busy machine must not make the only node look dead.
		"--node-monitor-grace-period=10m",
		// A claim that waits for its volume is looked at again only this often.
		"--pvclaimbinder-sync-period=1s",
		"--profiling=false",
	}
}

func schedulerArguments() []string {
	return []string{
		"--kubeconfig=" + kubeconfigFile(Scheduler),
		"--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=200",
		"--kube-api-burst=400",
		"--profiling=false",
	}
}

func kwokArguments() []string {
	return []string{
		"--kubeconfig=" + kubeconfigFile(Kwok),
		"--manage-all-nodes=true",
		"--enable-crds=Stage",
		// A kwok that uses leases and is restarted leaves its own node alone until
		// the lease of its former life has run out.
		"--node-lease-duration-seconds=0",
		"--node-port=0",
		"--node-ip=127.0.0.1",
		"--cidr=" + podRange,
	}
}
