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

	It("waits while its inventory cannot be read, stays listed, and goes once that is deleted", func(ctx SpecContext) {
		goes := configMap("only-in-two", "two")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha").running("one"))})
		operate(harness.OperatorOptions{SteeredClock: true})
		installed(ctx, 1)
		hold(ctx, "two")
		release(ctx, newProvider("alpha").running("two").with(goes))
		soon(ctx, "the upgrade to be stuck", stuckOn("Deployment openshift-cluster-api/alpha"))
		free := hold(ctx, "three")
		release(ctx, newProvider("alpha").running("three"))
		soon(ctx, "the upgrade to be stuck again", stuckOn("Deployment openshift-cluster-api/alpha"), func(v harness.View) error {
			if len(v.Revisions()) < 3 {
				return fmt.Errorf("%d revisions are listed", len(v.Revisions()))
			}
			return nil
		})
		damage := []byte(`{"binaryData":{"inventory.json.gz":"AAAA"}}`)
		Expect(env.Client.Patch(ctx, inventory(2), client.RawPatch(types.MergePatchType, damage), administrator)).To(Succeed())
		free()
		v := until(ctx, "the damaged inventory to be told", func(v harness.View) error {
			message := v.Condition(installerController + "Progressing").Message
			if !strings.Contains(message, "capstan-inventory-2") || !strings.Contains(message, "restore it, or delete it") {
				return fmt.Errorf("Progressing says %q", message)
			}
			return nil
		})
		Expect(v.Revisions()).To(HaveLen(3), "nothing is taken off the list before everything older was read")
		uids(ctx, goes)

		Expect(env.Client.Delete(ctx, inventory(2))).To(Succeed())
		v = installed(ctx, 3)
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
