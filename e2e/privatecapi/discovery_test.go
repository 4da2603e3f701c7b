package privatecapi_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// kubectl runs the real one as a component's access.
func kubectl(ctx context.Context, arguments ...string) (string, error) {
	GinkgoHelper()
	return kubectlBy(ctx, front.Kubeconfig, arguments...)
}

// kubectlBy runs the real one by a kubeconfig.
func kubectlBy(ctx context.Context, kubeconfig string, arguments ...string) (string, error) {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	binary, err := filepath.Abs(filepath.Join(bin, "kubectl"))
	Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(ctx, binary, append([]string{"--kubeconfig", kubeconfig, "--cache-dir", folder}, arguments...)...) //nolint:gosec // our own binary
	command.Env = append(os.Environ(), "HOME="+folder)
	text, err := command.CombinedOutput()
	return string(text), err
}

var _ = Describe("Discovery", func() {
	for name, config := range map[string]func() *rest.Config{
		"aggregated": func() *rest.Config { return front.config() },
		"in protobuf only": func() *rest.Config {
			c := front.config()
			c.ContentType = "application/vnd.kubernetes.protobuf"
			c.AcceptContentTypes = c.ContentType
			return c
		},
	} {
		It("shows each standard group once, with the versions of the private one, "+name, func() {
			client, err := discovery.NewDiscoveryClientForConfig(config())
			Expect(err).NotTo(HaveOccurred())
			groups, lists, err := client.ServerGroupsAndResources()
			Expect(err).NotTo(HaveOccurred())
			versions := map[string][]string{}
			for _, group := range groups {
				Expect(group.Name).NotTo(ContainSubstring(private))
				Expect(group.Name).NotTo(ContainSubstring(native))
				for _, version := range group.Versions {
					versions[group.Name] = append(versions[group.Name], version.Version)
				}
			}
			Expect(versions[standard]).To(ConsistOf("v1beta1", "v1beta2"))
			resources := 0
			for _, list := range lists {
				Expect(list.GroupVersion).NotTo(ContainSubstring(private))
				Expect(list.GroupVersion).NotTo(ContainSubstring(platformVersion))
				if list.GroupVersion == standard+"/"+version {
					resources = len(list.APIResources)
				}
			}
			Expect(resources).To(BeNumerically(">", 8))
			of, err := client.ServerResourcesForGroupVersion(standard + "/" + version)
			Expect(err).NotTo(HaveOccurred())
			Expect(of.GroupVersion).To(Equal(standard + "/" + version))
		})
	}

	It("answers a client that asks the old way, and one that has the answer", func(ctx SpecContext) {
		for _, path := range []string{"/apis", "/apis/" + standard, "/apis/" + standard + "/" + version} {
			code, body, header, err := front.get(ctx, path, map[string]string{"Accept": "application/json"})
			Expect(err).NotTo(HaveOccurred())
			Expect(code).To(Equal(200), body)
			Expect(body).To(And(ContainSubstring(standard), Not(ContainSubstring(private)), Not(ContainSubstring(native))))
			if tag := header.Get("ETag"); tag != "" {
				code, _, _, err = front.get(ctx, path, map[string]string{"Accept": "application/json", "If-None-Match": tag})
				Expect(err).NotTo(HaveOccurred())
				Expect(code).To(Equal(304))
			}
		}
		code, body, _, err := front.get(ctx, "/apis/"+private, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(404), body)
		Expect(body).To(ContainSubstring(standard))
	})
})

var _ = Describe("A person who asks past the proxy", func() {
	It("gets the private kind by a name without a group, and the platform's by its full name", func(ctx SpecContext) {
		for asked, told := range map[string]string{
			"machines": "machines." + private, "cluster": "clusters." + private, "machines." + standard: "machines." + standard,
		} {
			text, err := kubectlBy(ctx, plane.Kubeconfig(), "get", "-n", "default", asked, "none")
			Expect(err).To(HaveOccurred())
			Expect(text).To(ContainSubstring(told+` "none" not found`), asked)
		}
	})
})

// documented waits until the server describes the private group: it collects documents once a minute.
func documented(ctx context.Context) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	Expect(harness.Eventually(ctx, "the documents", func(ctx context.Context) error {
		text, err := stored.typed.Discovery().RESTClient().Get().AbsPath("/openapi/v3").DoRaw(ctx)
		if err != nil {
			return err
		}
		return unless(strings.Contains(string(text), `"apis/`+private+`/`+version+`"`), string(text))
	})).To(Succeed())
}

var _ = Describe("The schema", func() {
	BeforeEach(func(ctx SpecContext) { documented(ctx) })

	It("is explained and validated by kubectl in standard names", func(ctx SpecContext) {
		text, err := kubectl(ctx, "explain", "machines.spec.infrastructureRef")
		Expect(err).NotTo(HaveOccurred(), text)
		Expect(text).To(And(ContainSubstring("GROUP:      "+standard), ContainSubstring("apiGroup")))
		in := namespace(ctx)
		file := filepath.Join(GinkgoT().TempDir(), "machine.yaml")
		manifest := "apiVersion: " + standard + "/" + version + "\nkind: Machine\nmetadata: {name: m, namespace: " + in + "}\nspec: {clusterName: c, bootstrap: {dataSecretName: s}, infrastructureRef: {apiGroup: i.io, kind: K, name: m}, nonsense: 1}\n"
		Expect(os.WriteFile(file, []byte(manifest), 0o600)).To(Succeed())
		text, err = kubectl(ctx, "apply", "-f", file)
		Expect(err).To(HaveOccurred())
		Expect(text).To(And(ContainSubstring("nonsense"), Not(ContainSubstring(private))))
		Expect(os.WriteFile(file, []byte(strings.Replace(manifest, ", nonsense: 1", "", 1)), 0o600)).To(Succeed())
		text, err = kubectl(ctx, "apply", "-f", file)
		Expect(err).NotTo(HaveOccurred(), text)
		text, err = kubectl(ctx, "get", "machines", "-n", in, "-o", "wide")
		Expect(err).NotTo(HaveOccurred(), text)
		Expect(text).To(ContainSubstring("m "))
	})

	It("is told in standard names by OpenAPI of both versions, in JSON and protobuf", func(ctx SpecContext) {
		_, body, _, err := front.get(ctx, "/openapi/v2", map[string]string{"Accept": "application/json"})
		Expect(err).NotTo(HaveOccurred())
		Expect(body).To(And(ContainSubstring("io.x-k8s.cluster.v1beta2.Machine"), ContainSubstring("/apis/"+standard+"/v1beta2/"), Not(ContainSubstring("io.openshift.hypershift.cluster"))))
		client, err := discovery.NewDiscoveryClientForConfig(front.config())
		Expect(err).NotTo(HaveOccurred())
		document, err := client.OpenAPISchema()
		Expect(err).NotTo(HaveOccurred())
		names := map[string]bool{}
		for _, definition := range document.GetDefinitions().GetAdditionalProperties() {
			names[definition.GetName()] = true
		}
		Expect(names).To(HaveKey("io.x-k8s.cluster.v1beta2.Machine"))
		Expect(names).NotTo(HaveKey("io.openshift.hypershift.cluster.v1beta2.Machine"))
		root := openapi3.NewRoot(client.OpenAPIV3())
		spec, err := root.GVSpec(resource(standard, version, "").GroupVersion())
		Expect(err).NotTo(HaveOccurred())
		Expect(spec).NotTo(mention("hypershift"))
		Expect(spec.Components.Schemas).To(HaveKey("io.x-k8s.cluster.v1beta2.Machine"))
	})

	It("is asked for anew with a hash of other rules", func(ctx SpecContext) {
		_, body, _, err := front.get(ctx, "/openapi/v3", nil)
		Expect(err).NotTo(HaveOccurred())
		var index struct {
			Paths map[string]struct {
				ServerRelativeURL string `json:"serverRelativeURL"`
			} `json:"paths"`
		}
		Expect(json.Unmarshal([]byte(body), &index)).To(Succeed())
		url := index.Paths["apis/"+standard+"/"+version].ServerRelativeURL
		Expect(url).To(ContainSubstring("/openapi/v3/apis/" + standard + "/" + version + "?hash="))
		code, body, _, err := front.get(ctx, url, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(200))
		Expect(body).To(And(ContainSubstring("io.x-k8s.cluster.v1beta2.Machine"), Not(ContainSubstring(private))))
		document, _, _ := strings.Cut(url, "?hash=")
		stale := document + "?hash=STALE"
		code, body, _, err = front.get(ctx, stale, nil) // it follows where it is sent
		Expect(err).NotTo(HaveOccurred())
		Expect(code).To(Equal(200))
		Expect(body).To(ContainSubstring("io.x-k8s.cluster.v1beta2.Machine"))
	})
})
