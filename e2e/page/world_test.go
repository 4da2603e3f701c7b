//go:build page

package page_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
	"github.com/capstan-capi/capstan/e2e/providers"
)

// markup is what a page that set text as markup would run.
const markup = `<img src=x onerror="document.title='pwned'"><b>etcd</b> & "more"`

// provider is the image of a small provider: ConfigMaps with a setting.
func provider(ctx context.Context, setting string, names ...string) map[string]string {
	GinkgoHelper()
	var manifests []string
	for _, name := range names {
		manifests = append(manifests, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}, data: {setting: %s}}\n", name, harness.CAPINamespace, setting))
	}
	reference, err := env.PushFiles(ctx, "synthetic/alpha", map[string][]byte{
		providers.ManifestsDir + "/default/metadata.yaml":  []byte(`{name: alpha, installOrder: 20, selfImageRef: "registry.example/self:alpha", attributes: {type: synthetic, version: ` + setting + "}}\n"),
		providers.ManifestsDir + "/default/manifests.yaml": []byte(strings.Join(manifests, "---\n")),
	})
	Expect(err).NotTo(HaveOccurred())
	return map[string]string{"alpha": reference}
}

// install empties the cluster and has the operator install the provider, until it is at rest.
func install(ctx context.Context) *harness.Operator {
	GinkgoHelper()
	Expect(env.Begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: provider(ctx, "one", "alpha", "beta")})).To(Succeed())
	operator, err := env.StartOperator(harness.OperatorOptions{})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(operator.Stop()).To(Succeed()) })
	until(ctx, "revision 1 to be installed", harness.Settled(1))
	return operator
}

// foreign makes an object of somebody else's under the name of one that the next release brings.
func foreign(ctx context.Context) {
	GinkgoHelper()
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.CAPINamespace, Name: "shared"}, Data: map[string]string{"setting": "theirs"}}
	Expect(env.Client.Create(ctx, theirs, harness.Administrator)).To(Succeed())
}

// capstan runs the command as the administrator of the cluster.
func capstan(ctx context.Context, arguments ...string) string {
	GinkgoHelper()
	binary, err := filepath.Abs(filepath.Join(bin, "capstan"))
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, binary, append(arguments, "--kubeconfig", env.Cluster.Kubeconfig())...)
	command.Env = append(os.Environ(), "HOME=/nowhere")
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	Expect(command.Run()).To(Succeed(), out.String)
	return out.String()
}
