package openshiftcontrolplane_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	capicerts "sigs.k8s.io/cluster-api/util/certs"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	capisecret "sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/capstan-capi/capstan/e2e/capiworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
)

// installerImage is pulled by nobody.
const installerImage = "registry.example.com/installer@sha256:1111111111111111111111111111111111111111111111111111111111111111"

// askInstaller are the objects of a cluster of one control-plane machine, whose payload the installer makes.
func askInstaller(ctx context.Context) *capiworld.Asked {
	GinkgoHelper()
	image, err := world.Release(ctx, release)
	Expect(err).NotTo(HaveOccurred())
	asked := world.Ask(newKey(ctx), 1, image, "")
	spec(asked.ControlPlane, map[string]any{"engine": "InstallerJob", "installerImage": installerImage}, "ignition")
	return asked
}

// allowInstaller gives the provider the right to run the installer, as an administrator does, until the spec is over.
func allowInstaller(ctx context.Context) {
	GinkgoHelper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../config/installer")
	Expect(err).NotTo(HaveOccurred())
	for _, one := range made.Resources() {
		fields, err := one.Map()
		Expect(err).NotTo(HaveOccurred())
		right := &unstructured.Unstructured{Object: fields}
		Expect(world.Create(ctx, right)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(world.API.Delete(ctx, right)).To(Succeed()) })
	}
}

// installer is a folder with a program that takes the place of the installer: what it does for `create ignition-configs` is given.
// Like the installer it takes an install-config away once it has read it.
func installer(does string) (folder string) {
	GinkgoHelper()
	folder = GinkgoT().TempDir()
	program(folder, does)
	return folder
}

// program writes the installer into a folder.
func program(folder, does string) {
	GinkgoHelper()
	text := `#!/bin/bash
set -e
echo "level=info msg=\"$*\""
case "$2" in
manifests)
  grep -q pullSecret install-config.yaml
  rm install-config.yaml
  mkdir manifests openshift
  echo "kind: ConfigMap" > openshift/99_own.yaml
  ;;
ignition-configs)
  test -e openshift/99_own.yaml
` + does + `
  ;;
esac
`
	Expect(os.WriteFile(filepath.Join(folder, "openshift-install"), []byte(text), 0o700)).To(Succeed())
}

// writes is what an installer does that writes these configs, by their roles.
func writes(configs map[string]string) (does string) {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	for role, config := range configs {
		Expect(os.WriteFile(filepath.Join(folder, role+".ign"), []byte(config), 0o600)).To(Succeed())
	}
	return "  cp " + folder + "/*.ign ."
}

// booting is an Ignition config with one file.
func booting(path, content string) string {
	return fmt.Sprintf(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":%q,"mode":384,"contents":{"source":"data:;base64,%s"}}]}}`,
		path, base64.StdEncoding.EncodeToString([]byte(content)))
}

// issue makes the authorities of a cluster, as people may who have their own, and a kubeconfig of the guest's administrator.
func issue(ctx context.Context, asked *capiworld.Asked) (kubeconfig string) {
	GinkgoHelper()
	authorities := capisecret.NewCertificatesForInitialControlPlane(nil)
	Expect(authorities.Generate()).To(Succeed())
	for _, one := range authorities {
		made := one.AsSecret(asked.Key, metav1.OwnerReference{})
		made.OwnerReferences = nil
		Expect(world.Create(ctx, made)).To(Succeed())
	}
	pair := authorities.GetByPurpose(capisecret.ClusterCA).KeyPair
	certificate, err := capicerts.DecodeCertPEM(pair.Cert)
	Expect(err).NotTo(HaveOccurred())
	key, err := capicerts.DecodePrivateKeyPEM(pair.Key)
	Expect(err).NotTo(HaveOccurred())
	port, _, err := unstructured.NestedInt64(asked.DevCluster.Object, "spec", "controlPlaneEndpoint", "port")
	Expect(err).NotTo(HaveOccurred())
	made, err := capikubeconfig.New(asked.Key.Name, fmt.Sprintf("https://127.0.0.1:%d", port), certificate, key)
	Expect(err).NotTo(HaveOccurred())
	text, err := clientcmd.Write(*made)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// refused are the requests of a user that were refused for want of a right.
func refused(ctx context.Context, since cluster.Mark, user string) cluster.RequestList {
	GinkgoHelper()
	all, err := world.Cluster.RequestsSince(ctx, since)
	Expect(err).NotTo(HaveOccurred())
	return all.Where(func(r cluster.Request) bool { return r.User == user && r.Unauthorized })
}

// fails waits until a control plane is Failed because of its payload, and returns what people are told of it.
func fails(ctx context.Context, key capiworld.Key) (says string) {
	GinkgoHelper()
	stands(ctx, key, "Failed")
	eventually(ctx, key.String()+" to tell of the installer's log", func(ctx context.Context) error {
		standing, err := world.Standing(ctx, key)
		if err != nil {
			return err
		}
		for _, condition := range standing.Conditions {
			if condition.Type == "IgnitionAvailable" && condition.Status == metav1.ConditionFalse {
				says = condition.Message
			}
		}
		if !strings.Contains(says, "log") {
			return fmt.Errorf("it says %q", says)
		}
		return nil
	})
	return says
}

var _ = Describe("The installer", func() {
	It("makes the payload in a Job once the provider may run it, whose collector may write one Secret and read no other", func(ctx SpecContext) {
		asked := askInstaller(ctx)
		key := asked.Key
		spec(asked.ControlPlane, map[string]any{"manifests": key.Name}, "manifestsSelector", "matchLabels")
		own := manifest(key, settings)
		own.Annotations = map[string]string{directoryAnnotation: "openshift"}
		kubeconfig := issue(ctx, asked)
		holdJobs(ctx, key.Name)
		k := startKubelet(ctx, key, installer("  test -e openshift/extra.yaml\n"+writes(map[string]string{
			"bootstrap": booting("/opt/openshift/auth/kubeconfig", kubeconfig), "master": booting("/etc/role", "master"), "worker": booting("/etc/role", "worker"),
		})))

		By("waiting for the right to run it, and for nothing else")
		since := mark(ctx)
		Expect(world.Create(ctx, append(asked.Objects(), own)...)).To(Succeed())
		provider := world.Manager(capiworld.Provider).User
		eventually(ctx, "the provider to be refused a Job", func(ctx context.Context) error {
			standing, err := world.Standing(ctx, key)
			if err == nil && !strings.Contains(standing.Failure, "jobs.batch is forbidden") {
				err = fmt.Errorf("it says %q", standing.Failure)
			}
			return err
		})
		Expect(refused(ctx, since, provider)).To(HaveEach(And(HaveField("Verb", "create"), HaveField("Resource", "jobs"))))
		allowInstaller(ctx)
		allowed := mark(ctx)

		By("running it beside the collector, and being started with what it has made")
		stands(ctx, key, "Installed")
		Expect(k.ran()).To(Equal(1))
		Expect(stored(ctx, key, "one-0").Data["value"]).To(MatchJSON(booting("/etc/role", "master")))
		Expect(refused(ctx, allowed, provider)).To(BeEmpty())

		By("leaving nothing of it, since it is as secret as what it has made")
		for _, object := range objectsOf(ctx, key) {
			Expect(object).NotTo(Or(HavePrefix("Job "), ContainSubstring("-assets-")))
		}

		all, err := world.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		collector := all.Where(func(r cluster.Request) bool {
			return strings.HasPrefix(r.User, "system:serviceaccount:"+key.Namespace+":one-ignition-")
		})
		var did []string
		for _, r := range collector {
			_, account, _ := strings.Cut(r.User, key.Namespace+":")
			Expect(r.Name).To(Equal(account))
			did = append(did, fmt.Sprintf("%s %s %d", r.Verb, r.Resource, r.Code))
		}
		Expect(did).To(Equal([]string{"get secrets 200", "update secrets 200"}))
	}, SpecTimeout(2*patience))

	It("fails three times, is stopped then, and what people are told ends with its log without secrets; so does one whose configs Ignition refuses, of which none is published", Label(long), func(ctx SpecContext) {
		allowInstaller(ctx)
		broken, invalid := askInstaller(ctx), askInstaller(ctx)
		holdJobs(ctx, broken.Key.Name)
		fine := booting("/etc/role", "any")
		programs := installer(`
  for i in $(seq 2000); do echo "level=debug msg=\"attempt $i\""; done
  echo 'level=error msg="Get https://core:letmein@registry.example.com: pull secret cHVsbGVyOmh1bnRlcjI= is refused, password=swordfish"'
  echo 'level=fatal msg="no such region"'
  exit 4`)
		failing := startKubelet(ctx, broken.Key, programs)
		wrong := startKubelet(ctx, invalid.Key, installer(writes(map[string]string{
			"bootstrap": fine, "master": fine, "worker": `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"no/absolute/path"}]}}`,
		})))
		Expect(world.Create(ctx, append(broken.Objects(), invalid.Objects()...)...)).To(Succeed())

		told := fails(ctx, broken.Key)
		Expect(failing.ran()).To(Equal(3))
		Expect(told).To(And(ContainSubstring("attempt 2000"), ContainSubstring("[redacted]"), ContainSubstring("no such region"), ContainSubstring("ended with code 4")))
		Expect(told).NotTo(Or(ContainSubstring("cHVsbGVy"), ContainSubstring("letmein"), ContainSubstring("swordfish"), ContainSubstring("attempt 1000\"")))
		Expect(len(told)).To(And(BeNumerically(">", 4<<10), BeNumerically("<", 6<<10)))

		Expect(fails(ctx, invalid.Key)).To(ContainSubstring("worker.ign"))
		Expect(wrong.ran()).To(Equal(3))

		for _, key := range []capiworld.Key{broken.Key, invalid.Key} {
			objects := objectsOf(ctx, key)
			Expect(machines(objects)).To(BeEmpty())
			Expect(objects).NotTo(ContainElement(Or(Equal("Secret one-ignition-bootstrap"), Equal("Secret one-ignition-worker"))))
		}

		By("refusing the token of a collector everything but its Secret")
		for _, kubeconfig := range failing.accesses() {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			Expect(err).NotTo(HaveOccurred())
			within, err := kubernetes.NewForConfig(config)
			Expect(err).NotTo(HaveOccurred())
			_, err = within.CoreV1().Secrets(broken.Key.Namespace).Get(ctx, "one-install", metav1.GetOptions{})
			// A token is bound to its pod: once that is gone nobody is known by it.
			Expect(apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)).To(BeTrue(), "%v", err)
		}

		By("having the installer tried again by somebody who asks for that, and has mended it")
		program(programs, writes(map[string]string{"bootstrap": fine, "master": fine, "worker": fine}))
		Expect(refine(ctx, broken.ControlPlane, `{"metadata":{"annotations":{"capstan.openshift.io/retry":"1"}}}`)).To(Succeed())
		has(ctx, broken.Key, "Machine one-bootstrap")
		Expect(failing.ran()).To(Equal(4))

		By("leaving nothing when it is deleted")
		remove(ctx, invalid.Key)
		remove(ctx, broken.Key)
	}, SpecTimeout(3*patience))
})

var _ = Describe("A worker's Ignition config", func() {
	It("is not published while what is merged into it is invalid, and is once that is mended", func(ctx SpecContext) {
		asked := ask(ctx, newKey(ctx), 1, "")
		key := asked.Key
		overrides := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "overrides"},
			StringData: map[string]string{"value": `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"no/absolute/path"}]}}`},
		}
		objects := workers(key)
		for _, one := range objects {
			if template, is := one.(*unstructured.Unstructured); is && template.GetKind() == "OpenShiftConfigTemplate" {
				Expect(unstructured.SetNestedField(template.Object, "overrides", "spec", "template", "spec", "overridesSecretRef", "name")).To(Succeed())
			}
		}
		Expect(world.Create(ctx, append(objects, overrides)...)).To(Succeed())
		name := worker(ctx, key, "Failed")
		Expect(objectsOf(ctx, key)).NotTo(ContainElement("Secret " + name))

		overrides.Data, overrides.StringData = map[string][]byte{"value": []byte(booting("/etc/merged", "yes"))}, nil
		Expect(world.API.Update(ctx, overrides)).To(Succeed())
		worker(ctx, key, "Ready", "Frozen")
		Expect(string(stored(ctx, key, name).Data["value"])).To(ContainSubstring("/etc/merged"))
	}, SpecTimeout(2*patience))
})
