package capstanprovider_test

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// made are the objects of a cluster on machines in memory that was applied to a namespace of its own.
func made(ctx context.Context) (namespace string) {
	GinkgoHelper()
	namespace = newNamespace()
	objects := create(ctx, "gcp.yaml", namespace, "--infrastructure=dev")
	Expect(objects.code).To(BeZero(), objects.errs)
	applied := run(ctx, objects.out, at("apply", "--file=-")...)
	Expect(applied.code).To(BeZero(), applied.out+applied.errs)
	return namespace
}

var _ = Describe("capstan-provider create and apply", func() {
	It("makes for AWS what an API server with the real definitions takes, twice the same", func(ctx SpecContext) {
		Expect(os.Setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")).To(Succeed())
		Expect(os.Setenv("AWS_SECRET_ACCESS_KEY", "hunter2")).To(Succeed())
		namespace := newNamespace()
		objects := create(ctx, "aws.yaml", namespace, "--aws-credentials", "--provider-namespace="+namespace)
		Expect(objects.code).To(BeZero(), objects.errs)
		Expect(create(ctx, "aws.yaml", namespace, "--aws-credentials", "--provider-namespace="+namespace).out).To(Equal(objects.out))

		applied := run(ctx, objects.out, at("apply", "--file=-")...)
		Expect(applied.code).To(BeZero(), applied.out+applied.errs)
		lines := strings.Split(strings.TrimSpace(applied.out), "\n")
		Expect(lines).To(HaveEach(HavePrefix("created")))
		Expect(lines[0]).To(ContainSubstring("Namespace " + namespace))
		Expect(lines[1]).To(ContainSubstring("Secret "))

		fleet := get(ctx, awsClusters, namespace, "fleet-a")
		region, _, _ := unstructured.NestedString(fleet.Object, "spec", "region")
		Expect(region).To(Equal("eu-central-1"))
		given, err := os.ReadFile("testdata/aws.yaml")
		Expect(err).NotTo(HaveOccurred())
		stored, _, _ := unstructured.NestedString(get(ctx, secrets, namespace, "fleet-a-install").Object, "data", "install-config.yaml")
		Expect(base64.StdEncoding.EncodeToString(given)).To(Equal(stored))

		again := run(ctx, objects.out, at("apply", "--file=-")...)
		Expect(again.code).To(BeZero(), again.out+again.errs)
		Expect(strings.Split(strings.TrimSpace(again.out), "\n")).To(HaveEach(HavePrefix("unchanged")))
	}, SpecTimeout(patience))

	It("makes for machines in memory what an API server with the real definitions takes, by way of a folder", func(ctx SpecContext) {
		namespace, folder := newNamespace(), filepath.Join(GinkgoT().TempDir(), "objects")
		objects := create(ctx, "gcp.yaml", namespace, "--infrastructure=dev", "--folder="+folder)
		Expect(objects).To(Equal(ended{}))
		applied := run(ctx, "", at("apply", "--file="+folder)...)
		Expect(applied.code).To(BeZero(), applied.out+applied.errs)
		replicas, _, _ := unstructured.NestedInt64(get(ctx, machineDeployments, namespace, "elsewhere-worker").Object, "spec", "replicas")
		Expect(replicas).To(BeEquivalentTo(2))
		replicas, _, _ = unstructured.NestedInt64(get(ctx, controlPlanes, namespace, "elsewhere").Object, "spec", "replicas")
		Expect(replicas).To(BeEquivalentTo(3))
	}, SpecTimeout(patience))

	It("makes all but infrastructure of another platform, says what is missing, and nothing is applied that lacks it", func(ctx SpecContext) {
		namespace := newNamespace()
		objects := create(ctx, "gcp.yaml", namespace)
		Expect(objects.code).To(Equal(2))
		Expect(objects.errs).To(And(
			ContainSubstring("Cluster elsewhere, field spec.infrastructureRef"),
			ContainSubstring("OpenShiftControlPlane elsewhere, field spec.machineTemplate.spec.infrastructureRef"),
			ContainSubstring("MachineDeployment elsewhere-worker, field spec.template.spec.infrastructureRef"),
		))
		applied := run(ctx, objects.out, at("apply", "--file=-")...)
		Expect(applied.code).To(Equal(1))
		Expect(applied.out).To(MatchRegexp(`refused +OpenShiftControlPlane .*machineTemplate`))
		Expect(applied.out).To(MatchRegexp(`created +Cluster `))
	}, SpecTimeout(patience))

	It("refuses a platform that nobody knows, names all places, and prints nothing", func(ctx SpecContext) {
		text, err := os.ReadFile("testdata/gcp.yaml")
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "install-config.yaml")
		broken := strings.NewReplacer("gcp:", "moon:", "example.com", "example", "cHVsbGVyOmh1bnRlcjI=", "hunter2").Replace(string(text))
		Expect(os.WriteFile(file, []byte(broken), 0o600)).To(Succeed())
		objects := run(ctx, "", "create", "--install-config="+file, "--release-image="+release)
		Expect(objects.code).To(Equal(1))
		Expect(objects.out).To(BeEmpty())
		Expect(objects.errs).To(And(
			ContainSubstring(file+", field platform: "), ContainSubstring(file+", field baseDomain: "), ContainSubstring(file+", field pullSecret: "),
			ContainSubstring("nothing is made, because of 3 problems"), Not(ContainSubstring("hunter2")),
		))
	}, SpecTimeout(patience))

	It("leaves alone what others have set, says what and who, and applies everything else", func(ctx SpecContext) {
		namespace := made(ctx)
		patch(ctx, machineDeployments, namespace, "elsewhere-worker", map[string]any{"spec": map[string]any{"replicas": 7}})
		patch(ctx, controlPlanes, namespace, "elsewhere", map[string]any{"spec": map[string]any{"management": "Managed"}})
		Expect(client.Resource(secrets).Namespace(namespace).Delete(ctx, "elsewhere-install", metav1.DeleteOptions{})).To(Succeed())

		objects := create(ctx, "gcp.yaml", namespace, "--infrastructure=dev")
		applied := run(ctx, objects.out, at("apply", "--file=-")...)
		Expect(applied.code).To(Equal(2), applied.errs)
		Expect(applied.out).To(ContainSubstring("conflict   MachineDeployment " + namespace + "/elsewhere-worker: .spec.replicas is as somebody-else has set it"))
		Expect(applied.out).To(ContainSubstring("conflict   OpenShiftControlPlane " + namespace + "/elsewhere: .spec.management is as somebody-else has set it"))
		Expect(applied.out).To(ContainSubstring("created    Secret " + namespace + "/elsewhere-install"))
		replicas, _, _ := unstructured.NestedInt64(get(ctx, machineDeployments, namespace, "elsewhere-worker").Object, "spec", "replicas")
		Expect(replicas).To(BeEquivalentTo(7))

		told := run(ctx, objects.out, at("apply", "--file=-", "-o=json")...)
		Expect(told.code).To(Equal(2))
		Expect(told.out).To(ContainSubstring(`"manager": "somebody-else"`))
	}, SpecTimeout(patience))

	It("changes nothing in a dry run, and says what cannot be asked yet", func(ctx SpecContext) {
		namespace := newNamespace()
		objects := create(ctx, "gcp.yaml", namespace, "--infrastructure=dev")
		dry := run(ctx, objects.out, at("apply", "--file=-", "--dry-run")...)
		Expect(dry.code).To(BeZero(), dry.out+dry.errs)
		Expect(dry.out).To(And(ContainSubstring("created    Namespace "+namespace), MatchRegexp(`not asked +Cluster .*is not there yet`)))
		_, err := client.Resource(kind("", "v1", "namespaces")).Get(ctx, namespace, metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)

		Expect(run(ctx, objects.out, at("apply", "--file=-")...).code).To(BeZero())
		dry = run(ctx, objects.out, at("apply", "--file=-", "--dry-run")...)
		Expect(strings.Split(strings.TrimSpace(dry.out), "\n")).To(HaveEach(HavePrefix("unchanged")))
		other := strings.Replace(objects.out, "replicas: 2", "replicas: 4", 1)
		Expect(run(ctx, other, at("apply", "--file=-", "--dry-run")...).out).To(MatchRegexp(`changed +MachineDeployment`))
		replicas, _, _ := unstructured.NestedInt64(get(ctx, machineDeployments, namespace, "elsewhere-worker").Object, "spec", "replicas")
		Expect(replicas).To(BeEquivalentTo(2))
	}, SpecTimeout(patience))

	It("refuses a field and a kind that nobody has defined, and applies everything else", func(ctx SpecContext) {
		namespace := newNamespace()
		text := `
{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: a, namespace: ` + namespace + `}, spec: {paused: true, colour: red}}
---
{apiVersion: example.com/v1, kind: Gizmo, metadata: {name: a, namespace: ` + namespace + `}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: ` + namespace + `}}
`
		applied := run(ctx, text, at("apply", "--file=-")...)
		Expect(applied.code).To(Equal(1))
		Expect(applied.out).To(And(
			HavePrefix("created    Namespace "+namespace), MatchRegexp(`refused +Cluster .*colour`), MatchRegexp(`refused +Gizmo .*install the provider`),
		))
		Expect(applied.errs).To(ContainSubstring("2 of 3 objects refused"))
	}, SpecTimeout(patience))

	It("says of a management plane that does not answer what to check", func(ctx SpecContext) {
		kubeconfig := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		Expect(os.WriteFile(kubeconfig, []byte(`{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}],
			contexts: [{name: a, context: {cluster: a}}]}`), 0o600)).To(Succeed())
		object := "{apiVersion: v1, kind: Namespace, metadata: {name: a}}"
		for _, command := range [][]string{{"apply", "--file=-"}, {"watch", "a/b"}, {"explain", "a/b"}} {
			told := run(ctx, object, append(command, "--kubeconfig="+kubeconfig)...)
			Expect(told.code).To(Equal(1))
			Expect(told.errs).To(ContainSubstring("check that it runs"))
		}
	}, SpecTimeout(time.Minute))
})
