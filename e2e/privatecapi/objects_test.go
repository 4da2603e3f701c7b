package privatecapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const version = "v1beta2"

// get asks for a path of the proxy, or a whole URL, as curl would.
func (p *proxy) get(ctx context.Context, path string, header map[string]string) (code int, body string, answered http.Header, err error) {
	return p.send(ctx, http.MethodGet, path, "", header)
}

func (p *proxy) send(ctx context.Context, method, path, body string, header map[string]string) (int, string, http.Header, error) {
	if !strings.HasPrefix(path, "http") {
		path = p.URL + path
	}
	request, err := http.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	if err != nil {
		return 0, "", nil, err
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), response.Header, err
}

// namespace is a new one, by a name of its own.
func namespace(ctx context.Context) string {
	GinkgoHelper()
	made, err := stored.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "hosted-"}}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return made.Name
}

// object is one as a component writes it.
func object(prefix, kind, name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	made := &unstructured.Unstructured{}
	Expect(json.Unmarshal([]byte(`{"apiVersion":"`+prefix+standard+`/`+version+`","kind":"`+kind+`","metadata":{"name":"`+name+`"},"spec":`+spec+`}`), &made.Object)).To(Succeed())
	return made
}

const (
	reference     = `{"apiGroup":"infrastructure.cluster.x-k8s.io","kind":"DevMachine","name":"m"}`
	machineSpec   = `{"clusterName":"c","bootstrap":{"dataSecretName":"s"},"infrastructureRef":` + reference + `}`
	template      = `{"metadata":{"labels":{"a":"b"}},"spec":` + machineSpec + `}`
	machineSetTpl = `{"clusterName":"c","replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":` + template + `}`
)

// kinds are all of the core's, by resource.
var kinds = []struct{ prefix, resource, kind, spec string }{
	{"", "machines", "Machine", machineSpec},
	{"", "machinesets", "MachineSet", machineSetTpl},
	{"", "machinedeployments", "MachineDeployment", machineSetTpl},
	{"", "machinepools", "MachinePool", `{"clusterName":"c","template":` + template + `}`},
	{"", "clusters", "Cluster", `{"infrastructureRef":` + reference + `}`},
	{"", "machinehealthchecks", "MachineHealthCheck", `{"clusterName":"c","selector":{"matchLabels":{"a":"b"}}}`},
	{"", "machinedrainrules", "MachineDrainRule", `{"drain":{"behavior":"Skip"}}`},
	{"", "clusterclasses", "ClusterClass", `{"infrastructure":{"templateRef":` + templateReference + `},"controlPlane":{"templateRef":` + templateReference + `}}`},
	{"addons.", "clusterresourcesets", "ClusterResourceSet", `{"clusterSelector":{"matchLabels":{"a":"b"}},"resources":[{"kind":"Secret","name":"s"}]}`},
	{"addons.", "clusterresourcesetbindings", "ClusterResourceSetBinding", `{"clusterName":"c"}`},
	{"ipam.", "ipaddressclaims", "IPAddressClaim", `{"poolRef":{"apiGroup":"ipam.cluster.x-k8s.io","kind":"Pool","name":"p"}}`},
	{"ipam.", "ipaddresses", "IPAddress", `{"address":"10.0.0.1","prefix":24,"claimRef":{"name":"c"},"poolRef":{"apiGroup":"ipam.cluster.x-k8s.io","kind":"Pool","name":"p"}}`},
}

// owner is one that is there: the garbage collector looks.
func owner(ctx context.Context, in, version string) metav1.OwnerReference {
	GinkgoHelper()
	made, err := seen.dynamic.Resource(resource(standard, "v1beta2", "machinesets")).Namespace(in).Create(ctx, object("", "MachineSet", "owner", machineSetTpl), metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	return metav1.OwnerReference{APIVersion: standard + "/" + version, Kind: "MachineSet", Name: "owner", UID: made.GetUID()}
}

const templateReference = `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"DevTemplate","name":"t"}`

var _ = Describe("An object", func() {
	It("is stored in a private group only, whatever its kind, from its creation to the deletion of all", func(ctx SpecContext) {
		in := namespace(ctx)
		for _, of := range kinds {
			By(of.kind)
			from, to := resource(of.prefix+standard, version, of.resource), resource(of.prefix+private, version, of.resource)
			client, behind := seen.dynamic.Resource(from).Namespace(in), stored.dynamic.Resource(to).Namespace(in)
			for _, name := range []string{"one", "two"} {
				made, err := client.Create(ctx, object(of.prefix, of.kind, name, of.spec), metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
				Expect(made.GetAPIVersion()).To(Equal(of.prefix + standard + "/" + version))
			}
			there, err := behind.Get(ctx, "one", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(there.GetAPIVersion()).To(Equal(of.prefix + private + "/" + version))
			Expect(there.Object["spec"]).NotTo(mention(standard), "references in storage are private")

			read, err := client.Get(ctx, "one", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(read.Object).NotTo(mention(private))
			read.SetLabels(map[string]string{"edited": "yes"})
			_, err = client.Update(ctx, read, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
			list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "edited=yes"})
			Expect(err).NotTo(HaveOccurred())
			Expect(list.Items).To(HaveLen(1))
			Expect(list.GetAPIVersion()).To(Equal(of.prefix + standard + "/" + version))
			Expect(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
			rest, err := behind.List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(rest.Items).To(BeEmpty())
		}
		platform, err := stored.dynamic.Resource(resource(standard, platformVersion, "machines")).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(platform.Items).To(BeEmpty(), "the platform's own group is not touched")
	})

	It("has its references of both versions private in storage, and as they were written when read", func(ctx SpecContext) {
		in := namespace(ctx)
		older := object("", "MachineHealthCheck", "m", `{"clusterName":"c","selector":{"matchLabels":{"a":"b"}}}`)
		older.SetAPIVersion(standard + "/v1beta1")
		Expect(unstructured.SetNestedMap(older.Object, map[string]any{
			"apiVersion": "infrastructure." + standard + "/v1beta1", "kind": "DevRemediationTemplate", "name": "t",
		}, "spec", "remediationTemplate")).To(Succeed())
		older.SetOwnerReferences([]metav1.OwnerReference{owner(ctx, in, "v1beta1")})
		client := seen.dynamic.Resource(resource(standard, "v1beta1", "machinehealthchecks")).Namespace(in)
		_, err := client.Create(ctx, older, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		there, err := stored.dynamic.Resource(resource(private, "v1beta1", "machinehealthchecks")).Namespace(in).Get(ctx, "m", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		kept, _, _ := unstructured.NestedString(there.Object, "spec", "remediationTemplate", "apiVersion")
		Expect(kept).To(Equal("infrastructure." + private + "/v1beta1"))
		Expect(there.GetOwnerReferences()[0].APIVersion).To(Equal(private + "/v1beta1"))
		Expect(there.GetManagedFields()[0].APIVersion).To(Equal(private + "/v1beta1"))
		read, err := client.Get(ctx, "m", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(read.Object).NotTo(mention(private))

		newer := object("", "Machine", "m", machineSpec)
		_, err = seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in).Create(ctx, newer, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		there, err = stored.dynamic.Resource(resource(private, version, "machines")).Namespace(in).Get(ctx, "m", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		kept, _, _ = unstructured.NestedString(there.Object, "spec", "infrastructureRef", "apiGroup")
		Expect(kept).To(Equal("infrastructure." + private))
	})

	It("keeps what is no group as it was written, byte for byte", func(ctx SpecContext) {
		in := namespace(ctx)
		text := standard + "/v1beta2"
		of := object("", "Machine", "m", machineSpec)
		of.SetLabels(map[string]string{standard + "/cluster-name": "c", "apiVersion": standard})
		of.SetAnnotations(map[string]string{"apiVersion": text, "last-applied": `{"apiVersion":"` + text + `"}`})
		of.SetFinalizers([]string{"machine." + standard})
		_, err := seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in).Create(ctx, of, metav1.CreateOptions{FieldManager: standard})
		Expect(err).NotTo(HaveOccurred())
		there, err := stored.dynamic.Resource(resource(private, version, "machines")).Namespace(in).Get(ctx, "m", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(there.GetLabels()).To(Equal(of.GetLabels()))
		Expect(there.GetAnnotations()).To(Equal(of.GetAnnotations()))
		Expect(there.GetFinalizers()).To(Equal(of.GetFinalizers()))
		Expect(there.GetManagedFields()[0].Manager).To(Equal(standard))
		selected, err := seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in).List(ctx, metav1.ListOptions{LabelSelector: standard + "/cluster-name=c"})
		Expect(err).NotTo(HaveOccurred())
		Expect(selected.Items).To(HaveLen(1))

		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s", Labels: map[string]string{standard + "/cluster-name": "c"}}, Type: standard + "/secret", Data: map[string][]byte{"value": []byte("apiVersion: " + text)}}
		_, err = seen.typed.CoreV1().Secrets(in).Create(ctx, secret, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		kept, err := stored.typed.CoreV1().Secrets(in).Get(ctx, "s", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.Type).To(Equal(secret.Type))
		Expect(kept.Data).To(Equal(secret.Data))
		Expect(kept.Labels).To(Equal(secret.Labels))
		there.SetFinalizers(nil)
		_, err = stored.dynamic.Resource(resource(private, version, "machines")).Namespace(in).Update(ctx, there, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})
})
