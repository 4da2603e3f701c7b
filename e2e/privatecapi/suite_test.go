// Package privatecapi_test is the end-to-end suite of the proxy of private Cluster API types: the binary between real clients
// and a real control plane, seen from outside only. What is stored is read past the proxy.
package privatecapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// bin is what make build and make controlplane fill.
	bin = "../../bin"
	// definitions are those of the core, as they are shipped.
	definitions = "../../deploy/privatecapi/crds.yaml"
	// patience bounds every wait of the suite.
	patience = 60 * time.Second

	standard = "cluster.x-k8s.io"
	private  = "cluster.hypershift.openshift.io"
	native   = "platform-native.cluster.x-k8s.io"
	// platformVersion is the one version of the platform's own definitions, so that nobody takes them for private ones.
	platformVersion = "v9"
)

// The control plane of the whole suite, the proxy before it, and what speaks to either.
var (
	plane *cluster.Cluster
	front *proxy
	// seen is what a component sees, stored what is there.
	seen, stored clients
)

type clients struct {
	config  *rest.Config
	dynamic dynamic.Interface
	typed   kubernetes.Interface
}

func clientsOf(config *rest.Config) clients {
	GinkgoHelper()
	made := clients{config: config}
	var err error
	made.dynamic, err = dynamic.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	made.typed, err = kubernetes.NewForConfig(config)
	Expect(err).NotTo(HaveOccurred())
	return made
}

func TestPrivateCAPI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "private Cluster API types")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(klog.NewKlogr())
	Expect(harness.Built(bin)).To(Succeed())
	crds, err := definitionsOfBoth()
	Expect(err).NotTo(HaveOccurred())
	plane, err = cluster.Start(ctx, cluster.Options{Binaries: filepath.Join(bin, "controlplane")})
	Expect(err).NotTo(HaveOccurred())
	stored = clientsOf(plane.Config())
	install(ctx, crds)
	front = startProxy(ctx, plane.Kubeconfig())
	seen = clientsOf(front.config())
}, NodeTimeout(5*time.Minute))

// install brings the definitions, and waits until all are served.
func install(ctx context.Context, crds []*apiextensionsv1.CustomResourceDefinition) {
	GinkgoHelper()
	client, err := harness.NewClient(plane.Config())
	Expect(err).NotTo(HaveOccurred())
	for _, crd := range crds {
		Expect(client.Create(ctx, crd)).To(Succeed())
	}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			served := resource(crd.Spec.Group, version.Name, crd.Spec.Names.Plural)
			eventually(ctx, served.String(), func(ctx context.Context) error {
				_, err := stored.dynamic.Resource(served).List(ctx, metav1.ListOptions{Limit: 1})
				return err
			})
		}
	}
}

var _ = AfterSuite(func() {
	if plane != nil {
		Expect(plane.Stop()).To(Succeed())
	}
})

// definitionsOfBoth are the private definitions, converted by nobody, and two of the platform's own.
func definitionsOfBoth() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(definitions)
	if err != nil {
		return nil, err
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, crd); err != nil {
			return nil, err
		}
		if crd.Name == "" {
			continue
		}
		crd.Spec.Conversion = nil
		if crd.Spec.Names.Plural == "machinehealthchecks" {
			storeFirst(crd)
		}
		all = append(all, crd)
		if name := crd.Spec.Names.Plural; name == "machines" || name == "clusters" {
			all = append(all, ofPlatform(crd))
		}
	}
	if len(all) != 15 {
		return nil, fmt.Errorf("%s has %d definitions", definitions, len(all)-2)
	}
	return all, nil
}

// storeFirst has the first version stored: what is converted by nobody has the fields of that one only.
func storeFirst(crd *apiextensionsv1.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = i == 0
	}
}

func ofPlatform(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	crd.Spec.Group = standard
	crd.Name = crd.Spec.Names.Plural + "." + standard
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			version.Name, version.Deprecated = platformVersion, false
			crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{version}
		}
	}
	return crd
}

// proxy is a process of the proxy.
type proxy struct{ *harness.CAPIProxy }

// startProxy starts one, and waits until it is ready.
func startProxy(ctx context.Context, kubeconfig string) *proxy {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	started, err := harness.StartCAPIProxy(ctx, plane, bin, kubeconfig, filepath.Join(GinkgoT().TempDir(), "proxy.log"))
	Expect(err).NotTo(HaveOccurred())
	return &proxy{started}
}

// config is a component's access. Clients of streams do not take the token from the address.
func (p *proxy) config() *rest.Config {
	GinkgoHelper()
	access, err := p.Access()
	Expect(err).NotTo(HaveOccurred())
	access.UserAgent, access.BearerToken = cluster.UserAgent, p.token()
	return access
}

// token is what the proxy asks each request for.
func (p *proxy) token() string {
	GinkgoHelper()
	address, err := url.Parse(p.URL)
	Expect(err).NotTo(HaveOccurred())
	token, _ := address.User.Password()
	return token
}

// eventually repeats an attempt until it returns nil.
func eventually(ctx context.Context, what string, attempt func(context.Context) error) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	Expect(harness.Eventually(ctx, what, attempt)).To(Succeed())
}

// unless is what is wrong, unless something is so.
func unless(so bool, what string) error {
	if so {
		return nil
	}
	return errors.New(what)
}

func resource(group, version, name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
}
