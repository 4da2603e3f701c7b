package openshiftcontrolplane_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

const (
	directoryAnnotation = "manifests.capstan.openshift.io/directory"
	stateKey            = ".openshift_install_state.json"
)

// spec sets a field of what is asked for.
func spec(o *unstructured.Unstructured, value any, path ...string) {
	GinkgoHelper()
	Expect(unstructured.SetNestedField(o.Object, value, append([]string{"spec"}, path...)...)).To(Succeed())
}

// manifest is a Secret with one file, which a control plane chooses by its label.
func manifest(key capiworld.Key, text string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "extra", Labels: map[string]string{"manifests": key.Name}},
		StringData: map[string]string{"extra.yaml": text},
	}
}

// stored reads a Secret.
func stored(ctx context.Context, key capiworld.Key, name string) *corev1.Secret {
	GinkgoHelper()
	found := &corev1.Secret{}
	Expect(world.API.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: name}, found)).To(Succeed())
	return found
}

const settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra, namespace: openshift-config}\n"

var _ = Describe("What is asked for", func() {
	It("is refused where it is wrong, with the places, before there is any machine", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		choosing := func(a *capiworld.Asked) {
			spec(a.ControlPlane, map[string]any{"manifests": a.Key.Name}, "manifestsSelector", "matchLabels")
		}
		var waiting []capiworld.Key
		for names, change := range map[string]func(*capiworld.Asked) []client.Object{
			"field baseDomain: it differs": func(a *capiworld.Asked) []client.Object {
				a.Secret.StringData[stateKey] = `{"*installconfig.InstallConfig":{"config":{"baseDomain":"example.org"}}}`
				return nil
			},
			"Secret extra: it is chosen by spec.manifestsSelector and its annotation": func(a *capiworld.Asked) []client.Object {
				choosing(a)
				return []client.Object{manifest(a.Key, settings)}
			},
			"Secret extra, key extra.yaml": func(a *capiworld.Asked) []client.Object {
				choosing(a)
				wrong := manifest(a.Key, "hunter2: [")
				wrong.Annotations = map[string]string{directoryAnnotation: "manifests"}
				return []client.Object{wrong}
			},
			"InfraTemplateInvalid: NoMachineTemplate one": func(a *capiworld.Asked) []client.Object {
				spec(a.ControlPlane, "NoMachineTemplate", "machineTemplate", "spec", "infrastructureRef", "kind")
				return nil
			},
			"spec.releaseImage": func(a *capiworld.Asked) []client.Object {
				name, _, _ := strings.Cut(image, "@")
				spec(a.ControlPlane, name+"@sha256:"+strings.Repeat("0", 64), "releaseImage")
				return nil
			},
		} {
			asked := world.Ask(newKey(ctx), 1, image, "")
			more := change(asked)
			Expect(world.Create(ctx, append(more, asked.Objects()...)...)).To(Succeed())
			says(ctx, asked.Key, "InputsValid", metav1.ConditionFalse, names)
			waiting = append(waiting, asked.Key)
		}
		for _, key := range waiting {
			stands(ctx, key, "ResolvingInputs")
			Expect(machines(objectsOf(ctx, key))).To(BeEmpty())
			standing, err := world.Standing(ctx, key)
			Expect(err).NotTo(HaveOccurred())
			Expect(fmt.Sprint(standing.Conditions, standing.Waits, standing.Failure)).NotTo(ContainSubstring("hunter2"))
		}
	}, SpecTimeout(2*patience))

	It("is frozen, and what machines are started with has the forms that others read", func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		asked := world.Ask(newKey(ctx), 1, image, "etcd")
		spec(asked.ControlPlane, map[string]any{"manifests": asked.Key.Name}, "manifestsSelector", "matchLabels")
		extra := manifest(asked.Key, settings)
		Expect(world.Create(ctx, append([]client.Object{extra}, asked.Objects()...)...)).To(Succeed())
		says(ctx, asked.Key, "InputsValid", metav1.ConditionFalse, "Secret extra")
		extra.Annotations = map[string]string{directoryAnnotation: "openshift"}
		Expect(world.API.Update(ctx, extra)).To(Succeed())
		stands(ctx, asked.Key, "Bootstrapping")

		bootstrap := stored(ctx, asked.Key, "one-bootstrap")
		Expect(bootstrap.Data).To(HaveKeyWithValue("format", []byte("ignition")))
		Expect(bootstrap.Data["value"]).To(ContainSubstring("/opt/openshift/openshift/extra.yaml"))
		Expect(bootstrap.Labels).To(HaveKeyWithValue("cluster.x-k8s.io/cluster-name", "one"))
		Expect(stored(ctx, asked.Key, "one-0").Data["value"]).To(ContainSubstring("https://api-int.one.example.com:22623/config/master"))
		kubeconfig := stored(ctx, asked.Key, "one-kubeconfig")
		Expect(kubeconfig.Type).To(BeEquivalentTo("cluster.x-k8s.io/secret"))
		Expect(metav1.GetControllerOf(kubeconfig)).To(HaveField("Kind", "OpenShiftControlPlane"))
		_, err = clientcmd.RESTConfigFromKubeConfig(kubeconfig.Data["value"])
		Expect(err).NotTo(HaveOccurred())

		payload := stored(ctx, asked.Key, "one-ignition-bootstrap").ResourceVersion
		extra.Data = map[string][]byte{"extra.yaml": []byte(settings + "data: {a: b}\n")}
		Expect(world.API.Update(ctx, extra)).To(Succeed())
		says(ctx, asked.Key, "InputsDrifted", metav1.ConditionTrue, "")
		stands(ctx, asked.Key, "Bootstrapping")
		Expect(stored(ctx, asked.Key, "one-ignition-bootstrap").ResourceVersion).To(Equal(payload))
		Expect(stored(ctx, asked.Key, "one-bootstrap").ResourceVersion).To(Equal(bootstrap.ResourceVersion))
	}, SpecTimeout(2*patience))
})
