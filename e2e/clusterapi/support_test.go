package clusterapi_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// canary is what is planted where nothing may be taken from, with a number at its end.
const canary = "canary-4f8e1c"

var _ = Describe("capstan support", func() {
	It("collects with read rights alone what a bug report needs, none of it secret, and is read as if it were the cluster", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)
		Expect(operator.Stop()).To(Succeed()) // which writes what is left; nobody answers from here on
		plant(ctx)
		bind(ctx, "capstan-view", "viewer")
		bindRoles(ctx, "capstan-view", "viewer", harness.OperatorNamespace, harness.CAPINamespace, metav1.NamespaceDefault, configNamespace)

		By("collecting")
		file := filepath.Join(GinkgoT().TempDir(), "report.tar.gz")
		since := mark(ctx)
		viewer := as("viewer")
		viewer.kubeconfig = withCanary(viewer.kubeconfig)
		collect := append([]string{"support", "-o", file}, withCache(nil)...)
		Expect(viewer.run(ctx, 0, collect...)).To(ContainSubstring(file + " is written"))
		info, err := os.Stat(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode()).To(Equal(os.FileMode(0o600)))
		Expect(info.Size()).To(BeNumerically("<", 32<<20))
		Expect(viewer.run(ctx, codeFailed, collect...)).To(ContainSubstring("nothing is overwritten"))

		By("having asked for nothing but what may be in it")
		asked, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		asked = asked.By("capstan-cli")
		Expect(asked).NotTo(BeEmpty())
		for _, r := range asked {
			Expect(r.Verb).To(BeElementOf("get", "list"), r.String())
			if strings.Contains(r.RequestURI, managedByAlone) {
				continue // a plan looks for the objects themselves, and tells of those that it may not see
			}
			Expect(r.Resource+"/"+r.Subresource).To(BeElementOf(slices.Concat(forPlans, forParts)), r.String())
			Expect(r.Unauthorized && !slices.Contains(forPlans, r.Resource+"/")).To(BeFalse(), r.String())
		}

		By("holding every part, and no canary")
		parts := unpacked(file)
		var index struct {
			Parts []struct{ Name, State, Why, Right string }
		}
		Expect(json.Unmarshal(parts["index.json"], &index)).To(Succeed())
		missing := map[string]string{}
		for _, p := range index.Parts {
			Expect(p.Right).To(BeEmpty(), p.Name)
			if p.State != "whole" {
				missing[p.Name] = p.Why
			}
		}
		// Nobody has a log here: there is no kubelet that could be asked for it.
		Expect(missing).To(And(HaveLen(1), HaveKeyWithValue("logs/0.log", ContainSubstring("when asked to get pods/log"))))
		Expect(string(parts["inventories.json"])).To(ContainSubstring(`"capstan-inventory-1"`))
		Expect(string(parts["crds.json"])).To(And(ContainSubstring("alphas.test.cluster.x-k8s.io"), Not(ContainSubstring("openAPIV3Schema"))))
		Expect(string(parts["pods.json"])).To(And(ContainSubstring(`"registry.example/planted"`), ContainSubstring(`"alpha-`)))
		Expect(string(parts["events.json"])).To(ContainSubstring(`"by": "capstan-clusterapi"`))
		Expect(string(parts["acts.json"])).To(ContainSubstring("etcd is being moved"))
		holdsNo(file, parts, canary)

		By("being read as if it were the cluster")
		nobody := command{}
		for _, args := range [][]string{
			{"status", "-o", "json"}, {"explain", "-o", "json"}, {"status", "--machine", "bootgate", "-o", "json"}, {"history", "-o", "json"}, {"history", "1", "-o", "json"},
		} {
			Expect(nobody.run(ctx, 0, append(args, "--from", file)...)).To(MatchJSON(viewer.run(ctx, 0, args...)), strings.Join(args, " "))
		}
		Expect(nobody.run(ctx, codeInstalled, "status", "--exit-code", "--from", file)).To(ContainSubstring("State:      Installed since "))
		Expect(nobody.run(ctx, 0, "explain", "--from", file)).To(ContainSubstring("This cluster has been in Installed since "))
		Expect(nobody.run(ctx, 0, "replay", "--from", file)).To(HaveSuffix("4 of 4 decisions are taken again as they were recorded\n"))
		Expect(nobody.run(ctx, codeFailed, "status", "--from", file, "--machine", "compatibility")).To(ContainSubstring("and there is none on this cluster"))
		Expect(nobody.run(ctx, codeFailed, "status", "--from", file, "--watch")).To(ContainSubstring("nothing changes in an archive"))
	})

	It("computes what the operator would do, and asks for no Secret and no instance even then", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		plant(ctx)
		next := newProvider("alpha").set("ConfigMap", "alpha", canary+"-20", "data", "setting")
		release(ctx, next)

		file := filepath.Join(GinkgoT().TempDir(), "report.tar.gz")
		since := mark(ctx)
		Expect(admin().run(ctx, 0, append([]string{"support", "-o", file}, withCache(nil)...)...)).To(ContainSubstring("whole    plan.json\n"))
		asked, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		for _, r := range asked.By("capstan-cli") {
			Expect(r.Verb).To(BeElementOf("get", "list"), r.String())
			Expect(r.Resource).NotTo(Equal("secrets"), r.String())
			Expect(r.APIGroup).NotTo(HaveSuffix("cluster.x-k8s.io"), r.String())
		}
		parts := unpacked(file)
		var p planned
		Expect(json.Unmarshal(parts["plan.json"], &p)).To(Succeed())
		Expect(p.From.Number).To(BeEquivalentTo(1))
		changed := p.of("ConfigMap", "alpha")
		Expect(changed.Verdict + " " + changed.How).To(Equal("change computed"))
		Expect(changed.Fields).To(ContainElement(HaveField("Path", ContainSubstring("setting"))))
		holdsNo(file, parts, canary)
	})

	It("tells of each part which right was missing", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType})
		mayGet(ctx, "reader")
		file := filepath.Join(GinkgoT().TempDir(), "report.tar.gz")
		Expect(as("reader").run(ctx, 0, "support", "-o", file)).To(And(
			ContainSubstring("whole    clusterapi.json\n"), ContainSubstring("missing  pods.json: not allowed to list pods in namespace "+harness.OperatorNamespace),
		))
		Expect(string(unpacked(file)["index.json"])).To(ContainSubstring(`"right": "get configmaps capstan-recorder in namespace ` + harness.OperatorNamespace + `"`))
		nobody := command{}
		Expect(nobody.run(ctx, codeOnItsWay, "status", "--exit-code", "--from", file)).To(ContainSubstring("the operator has not reported yet"))
		Expect(nobody.run(ctx, codeFailed, "replay", "--from", file)).To(ContainSubstring("have somebody make an archive who has the right to get configmaps"))
		Expect(as("nobody").run(ctx, 0, "support", "-o", file+".2")).To(ContainSubstring("missing  clusterapi.json: not allowed to get clusterapis"))
	})

	It("is not harmed by an archive that somebody has forged", func(ctx SpecContext) {
		dir, nobody := GinkgoT().TempDir(), command{}
		for name, c := range map[string]struct {
			headers []tar.Header
			says    string
		}{
			"a link":           {[]tar.Header{{Name: "index.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}, "is no plain file"},
			"a way out":        {[]tar.Header{{Name: "../../escaped", Typeflag: tar.TypeReg}}, "is no name of a part"},
			"a bomb":           {[]tar.Header{{Name: "index.json", Typeflag: tar.TypeReg, Size: 200 << 20}}, "all together may have"},
			"another terminal": {[]tar.Header{{Name: "\x1b[2Jindex.json", Typeflag: tar.TypeReg}}, "is no name of a part"},
		} {
			file := filepath.Join(dir, "forged.tar.gz")
			Expect(os.WriteFile(file, forgedArchive(c.headers...), 0o600)).To(Succeed())
			for _, command := range []string{"status", "explain", "replay", "history"} {
				out := nobody.run(ctx, codeFailed, command, "--from", file)
				Expect(out).To(ContainSubstring(c.says), name)
				Expect(out).NotTo(ContainSubstring("\x1b"), name)
			}
		}
		found, err := os.ReadDir(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(HaveLen(1))
	})
})

// managedByAlone is how lists are asked for of nothing but what Capstan manages.
const managedByAlone = "labelSelector=capi-operator.openshift.io%2Fmanaged-by&"

// forParts are what parts are made of; the path /version has no resource.
var forParts = []string{
	"/", "clusterapis/", "clusteroperators/", "clusterversions/", "compatibilityrequirements/", "configmaps/", "customresourcedefinitions/",
	"events/", "pods/", "pods/log",
}

// forPlans are what a plan is made of besides these.
var forPlans = []string{
	"infrastructures/", "apiservers/", "clusterapis/", "images/", "proxies/", "networks/", "imagedigestmirrorsets/", "imagetagmirrorsets/",
	"imagecontentpolicies/", "imagecontentsourcepolicies/", "clusterimagepolicies/", "imagepolicies/", "deployments/", "namespaces/",
}

// plant puts canaries where nothing may be taken from.
func plant(ctx context.Context) {
	GinkgoHelper()
	applied := map[string]string{"kubectl.kubernetes.io/last-applied-configuration": canary + "-0"}
	secret := func(namespace, name string) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: applied},
			StringData: map[string]string{"password": canary + "-1", ".dockerconfigjson": `{"auths":{"registry.example":{"auth":"` + canary + `-2"}}}`},
		}
	}
	Expect(env.Client.Create(ctx, secret(harness.OperatorNamespace, canary+"-3"))).To(Succeed())
	Expect(env.Client.Create(ctx, secret(harness.CAPINamespace, canary+"-4"))).To(Succeed())
	Expect(env.Client.Create(ctx, secret(harness.ConfigNamespace, "pull-secret"))).To(Succeed())
	Expect(env.Client.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: canary + "-5"}, Data: map[string]string{"key": canary + "-6"},
	})).To(Succeed())
	for namespace, name := range map[string]string{harness.CAPINamespace: "planted", harness.OperatorNamespace: "capstan"} {
		Expect(env.Client.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name, Annotations: applied, Labels: map[string]string{"app.kubernetes.io/name": name, "label": canary + "-7"},
			},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: name, Image: "registry.example/" + name, Args: []string{"--token=" + canary + "-8"}, Env: []corev1.EnvVar{{Name: "PASSWORD", Value: canary + "-9"}},
			}}},
		})).To(Succeed())
	}
	instance := custom("alpha", canary+"-10")
	instance.SetAnnotations(applied)
	Expect(unstructured.SetNestedField(instance.Object, canary+"-11", "spec", "setting")).To(Succeed())
	Expect(env.Client.Create(ctx, instance)).To(Succeed())
	patch(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": operatorv1alpha1.GroupVersion.String(), "kind": "ClusterAPI", "metadata": map[string]any{"name": harness.Singleton},
	}}, `{"metadata":{"labels":{"label":"`+canary+`-12"},"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"`+canary+`-13"}}}`)
	pauseFrom(ctx, env.Now())
}

// bindRoles gives a user Roles of deploy in namespaces.
func bindRoles(ctx context.Context, role, user string, namespaces ...string) {
	GinkgoHelper()
	for _, namespace := range namespaces {
		bound := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "view-" + user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		}
		Expect(env.Client.Create(ctx, bound)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, bound)).To(Succeed()) }, NodeTimeout(patience))
	}
}

// withCanary adds to a kubeconfig a user that is not used, with a token and a password in the URL of a proxy.
func withCanary(kubeconfig string) string {
	GinkgoHelper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	user := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo].DeepCopy()
	user.Token = canary + "-14"
	config.AuthInfos["planted"] = user
	server := config.Clusters[config.Contexts[config.CurrentContext].Cluster].DeepCopy()
	server.ProxyURL = "http://somebody:" + canary + "-15@proxy.example"
	config.Clusters["planted"] = server
	file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*config, file)).To(Succeed())
	return file
}

// unpacked are the files in an archive.
func unpacked(file string) map[string][]byte {
	GinkgoHelper()
	all, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	zip, err := gzip.NewReader(bytes.NewReader(all))
	Expect(err).NotTo(HaveOccurred())
	parts, files := map[string][]byte{}, tar.NewReader(zip)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		Expect(err).NotTo(HaveOccurred())
		parts[header.Name], err = io.ReadAll(files)
		Expect(err).NotTo(HaveOccurred())
	}
}

// holdsNo looks for a text in an archive as it is, in its parts, and in these as base64 of it at any place.
func holdsNo(file string, parts map[string][]byte, text string) {
	GinkgoHelper()
	all, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	forms := []string{text}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("-", shift) + text))
		forms = append(forms, encoded[4:len(encoded)-4])
	}
	for _, form := range forms {
		Expect(bytes.Contains(all, []byte(form))).To(BeFalse(), form)
		for name, content := range parts {
			Expect(bytes.Contains(content, []byte(form))).To(BeFalse(), "%s in %s", form, name)
		}
	}
}

// forgedArchive packs files that say nothing.
func forgedArchive(headers ...tar.Header) []byte {
	GinkgoHelper()
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	Expect(err).NotTo(HaveOccurred())
	files := tar.NewWriter(zip)
	for _, header := range headers {
		Expect(files.WriteHeader(&header)).To(Succeed())
		_, err := files.Write(make([]byte, header.Size))
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(errors.Join(files.Close(), zip.Close())).To(Succeed())
	return out.Bytes()
}
