package clusterapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("What a former revision has left", func() {
	It("is taken over from the former installer only where that has written it: copies stay, and are told", func(ctx SpecContext) {
		alpha := newProvider("alpha")
		images := push(ctx, alpha)
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		goes := configMap("goes", "one")
		applyAsFormer(ctx, "alpha", 1, images["alpha"], append(slices.Clone(alpha.objects), goes)...)
		listAsFormer(ctx, images["alpha"], 1)
		copies := []*unstructured.Unstructured{copyOf(ctx, goes), copyOf(ctx, alpha.find("ClusterRole", "alpha"))}
		before := uids(ctx, copies...)
		operate(harness.OperatorOptions{})
		installed(ctx, 2)
		expectGone(ctx, goes)
		Expect(uids(ctx, copies...)).To(Equal(before))
		until(ctx, "the copies to be told", tellsStrays("ClusterRole alpha-copy", "ConfigMap openshift-cluster-api/goes-copy"))
	})

	It("waits while its inventory cannot be read, and is listed anew and deleted once that is deleted", func(ctx SpecContext) {
		goes := configMap("goes", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").with(goes))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed())
		damaged := inventory(1)
		Expect(env.Client.Patch(ctx, damaged, client.RawPatch(types.MergePatchType, []byte(`{"binaryData":{"inventory.json.gz":"AAAA"}}`)), administrator)).To(Succeed())

		release(ctx, newProvider("alpha"))
		operate(harness.OperatorOptions{})
		v := until(ctx, "the damaged inventory to be told", func(v harness.View) error {
			message := v.Condition(installerController + "Progressing").Message
			if !strings.Contains(message, "capstan-inventory-1") || !strings.Contains(message, "restore it, or delete it") {
				return fmt.Errorf("Progressing says %q", message)
			}
			return nil
		})
		Expect(v.Revisions()).To(HaveLen(2), "nothing is taken off the list before everything older was read")
		Expect(v.Revision(v.Current()).Revision).To(Equal(int64(2)))
		uids(ctx, goes)

		Expect(env.Client.Delete(ctx, inventory(1))).To(Succeed())
		v = installed(ctx, 2)
		Expect(v.Revisions()).To(HaveLen(1))
		expectGone(ctx, goes)
	})
})

// inventory names the inventory of a revision.
func inventory(number int64) *unstructured.Unstructured {
	return object(fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: %s, name: capstan-inventory-%d}}", harness.OperatorNamespace, number))
}

// copyOf makes a copy of an object with all its marks, as somebody does who has read it as YAML.
func copyOf(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()
	copied := fetched(ctx, o)
	for _, field := range []string{"uid", "resourceVersion", "managedFields", "creationTimestamp"} {
		unstructured.RemoveNestedField(copied.Object, "metadata", field)
	}
	copied.SetName(o.GetName() + "-copy")
	Expect(env.Client.Create(ctx, copied, administrator)).To(Succeed())
	return copied
}

// tellsStrays asks whether the machine tells of exactly these strays of revision 1.
func tellsStrays(names ...string) func(harness.View) error {
	return func(v harness.View) error {
		var told struct {
			Detail struct {
				Strays []string `json:"strays"`
			} `json:"clusterapiDetail"`
		}
		if err := json.Unmarshal(v.ClusterOperator.Status.Extension.Raw, &told); err != nil {
			return err
		}
		want := make([]string, len(names))
		for i, name := range names {
			want[i] = name + " (marked by revision 1)"
		}
		if !slices.Equal(told.Detail.Strays, want) {
			return fmt.Errorf("the strays are %q", told.Detail.Strays)
		}
		return nil
	}
}
