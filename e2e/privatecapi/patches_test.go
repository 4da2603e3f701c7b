package privatecapi_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var _ = Describe("An owner", func() {
	const by = `{"apiVersion":"` + standard + `/v1beta2","kind":"MachineSet","name":"owner","uid":"UID"}`
	for name, patch := range map[string]struct {
		of   types.PatchType
		text string
	}{
		"merge patch":           {types.MergePatchType, `{"metadata":{"ownerReferences":[` + by + `]}}`},
		"strategic merge patch": {types.StrategicMergePatchType, `{"metadata":{"ownerReferences":[` + by + `]}}`},
		"JSON patch":            {types.JSONPatchType, `[{"op":"add","path":"/metadata/ownerReferences","value":[` + by + `]}]`},
		"JSON patch of the text": {types.JSONPatchType, `[{"op":"add","path":"/metadata/ownerReferences","value":[{"apiVersion":"v1","kind":"MachineSet","name":"owner","uid":"UID"}]},` +
			`{"op":"replace","path":"/metadata/ownerReferences/0/apiVersion","value":"` + standard + `/v1beta2"}]`},
	} {
		It("set by "+name+" is private in storage", func(ctx SpecContext) {
			in := namespace(ctx)
			text := strings.ReplaceAll(patch.text, "UID", string(owner(ctx, in, "v1beta2").UID))
			client := seen.typed.CoreV1().ConfigMaps(in)
			_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned"}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			read, err := client.Patch(ctx, "owned", patch.of, []byte(text), metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(read.OwnerReferences[0].APIVersion).To(Equal(standard + "/v1beta2"))
			there, err := stored.typed.CoreV1().ConfigMaps(in).Get(ctx, "owned", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(there.OwnerReferences[0].APIVersion).To(Equal(private + "/v1beta2"))
		})
	}
})

var _ = Describe("Two appliers", func() {
	It("are told of each other's fields in standard names, in YAML as in JSON", func(ctx SpecContext) {
		in := namespace(ctx)
		client := seen.dynamic.Resource(resource(standard, version, "machines")).Namespace(in)
		yaml := "apiVersion: " + standard + "/v1beta2\nkind: Machine\nmetadata: {name: m}\nspec:\n  clusterName: c\n  bootstrap: {dataSecretName: s}\n" +
			"  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevMachine, name: m}\n"
		_, err := client.Patch(ctx, "m", types.ApplyPatchType, []byte(yaml), metav1.PatchOptions{FieldManager: "first"})
		Expect(err).NotTo(HaveOccurred())
		there, err := stored.dynamic.Resource(resource(private, version, "machines")).Namespace(in).Get(ctx, "m", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(there.Object["spec"]).To(mention("infrastructure." + private))
		second := object("", "Machine", "m", `{"clusterName":"c","bootstrap":{"dataSecretName":"other"},"infrastructureRef":{"apiGroup":"i.io","kind":"DevMachine","name":"m"}}`)
		text, err := second.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Patch(ctx, "m", types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: "second"})
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		Expect(err.Error()).To(And(ContainSubstring(`"first"`), ContainSubstring(".spec.infrastructureRef.apiGroup"), Not(ContainSubstring(private))))
		_, told := apierrors.StatusCause(err, metav1.CauseTypeFieldManagerConflict)
		Expect(told).To(BeTrue())
		read, err := client.Patch(ctx, "m", types.ApplyPatchType, text, metav1.PatchOptions{FieldManager: "second", Force: ptr.To(true)})
		Expect(err).NotTo(HaveOccurred())
		for _, entry := range read.GetManagedFields() {
			Expect(entry.APIVersion).To(Equal(standard + "/" + version))
		}
	})
})
