package shim_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy/privatecapi"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// stopGrace is how long a process may take to end after SIGTERM.
const stopGrace = 15 * time.Second

// process is a child process that serves the shim on a loopback address, as deploy's ServiceAccount.
type process struct {
	address, health, metrics, dir string
	child                         *cluster.Process
}

// newShim finds a place for a shim and certifies it; nothing is started.
func newShim() *process {
	GinkgoHelper()
	s := &process{}
	Expect(env.Cluster.ReserveAddresses(&s.address, &s.health, &s.metrics)).To(Succeed())
	s.dir = filepath.Join(env.Cluster.Dir(), "shim-"+s.address)
	Expect(os.MkdirAll(s.dir, 0o700)).To(Succeed())
	certificate, key, err := env.Cluster.Serving("127.0.0.1")
	Expect(err).NotTo(HaveOccurred())
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": env.Cluster.Config().CAData, "routes.yaml": []byte("routes: []\n")} {
		Expect(os.WriteFile(filepath.Join(s.dir, name), content, 0o600)).To(Succeed())
	}
	return s
}

// start returns when the shim is ready.
func (s *process) start(ctx context.Context) {
	GinkgoHelper()
	const user = "system:serviceaccount:" + harness.OperatorNamespace + ":capstan-capi-shim"
	kubeconfig, err := env.Cluster.KubeconfigFor(user, "system:serviceaccounts", "system:serviceaccounts:"+harness.OperatorNamespace)
	Expect(err).NotTo(HaveOccurred())
	binary, err := filepath.Abs(filepath.Join(bin, "capi-shim"))
	Expect(err).NotTo(HaveOccurred())
	s.child, err = env.Cluster.Spawn("the shim", filepath.Join(s.dir, "log"), binary, "--kubeconfig="+kubeconfig, "--address="+s.address,
		"--cert-dir="+s.dir, "--routes="+filepath.Join(s.dir, "routes.yaml"), "--metrics-address="+s.metrics, "--health-address="+s.health, "--drain=50ms")
	Expect(err).NotTo(HaveOccurred())
	eventually(ctx, "waiting for the shim", s.ready)
}

func (s *process) ready(ctx context.Context) error {
	return harness.Ready(ctx, "the shim", "http://"+s.health)
}

// counted is what it tells Prometheus.
func (s *process) counted(ctx context.Context) string {
	GinkgoHelper()
	by, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: env.Cluster.Config().CAData}})
	Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.metrics+"/metrics", http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := by.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// stop ends it in order.
func (s *process) stop() {
	GinkgoHelper()
	if s.child != nil {
		Expect(s.child.Stop(stopGrace)).To(Succeed())
		Expect(s.child.Failure()).NotTo(HaveOccurred())
		s.child = nil
	}
}

// install applies deploy/privatecapi but for what needs OpenShift or runs pods, with the shim where it listens: the cluster has no
// network for Services.
func install(ctx context.Context, s *process) {
	GinkgoHelper()
	objects, err := privatecapi.Objects()
	Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		switch object.GetKind() {
		case "CustomResourceDefinition":
			s.serves(object.Object, "spec", "conversion", "webhook", "clientConfig")
		case "ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding":
		default:
			continue
		}
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, object))).To(Succeed())
	}
	eventually(ctx, "waiting until all definitions are Established", func(ctx context.Context) error {
		for _, object := range objects {
			if object.GetKind() != "CustomResourceDefinition" {
				continue
			}
			if err := isEstablished(ctx, object.GetName()); err != nil {
				return err
			}
		}
		return nil
	})
}

// serves has a client configuration lead to the shim by URL, if there is one.
func (s *process) serves(object map[string]any, fields ...string) {
	GinkgoHelper()
	path, found, err := unstructured.NestedString(object, append(fields, "service", "path")...)
	Expect(err).NotTo(HaveOccurred())
	if found {
		Expect(unstructured.SetNestedMap(object, map[string]any{"url": "https://" + s.address + path, "caBundle": encoded(env.Cluster.Config().CAData)}, fields...)).To(Succeed())
	}
}
