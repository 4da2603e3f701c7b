package clusterapi_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The command render", func() {
	It("shows without a cluster the revision that the operator lists in one", func(ctx SpecContext) {
		images := push(ctx, newProvider("alpha"), newProvider("beta").at(30).on("AWS"), newProvider("gamma").on("VSphere"))
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: images})
		operate(harness.OperatorOptions{})
		listed := installed(ctx, 1).ClusterAPI.Status.Revisions[0]

		args := []string{"render", "--platform", "AWS", "--release-version", "4.22.0", "-o", "json"}
		for _, reference := range images {
			args = append(args, "--image", reference)
		}
		out, err := exec.CommandContext(ctx, filepath.Join(bin, "capstan"), args...).Output()
		Expect(err).NotTo(HaveOccurred())
		var shown struct {
			Name, ContentID string
			Revision        int64
			Components      []struct{ Name, Image, Profile string }
			Skipped         []struct{ Name string }
			Substitutions   map[string]string
		}
		Expect(json.Unmarshal(out, &shown)).To(Succeed())
		Expect(operatorv1alpha1.RevisionName(shown.Name)).To(Equal(listed.Name))
		Expect(shown.ContentID).To(Equal(listed.ContentID))
		Expect(shown.Revision).To(Equal(listed.Revision))
		Expect(shown.Components).To(HaveLen(2))
		for i, component := range listed.Components {
			Expect(shown.Components[i].Name).To(Equal(component.Name))
			Expect(shown.Components[i].Image).To(Equal(string(component.Image.Ref)))
			Expect(shown.Components[i].Profile).To(Equal(component.Image.Profile))
		}
		Expect(shown.Skipped).To(HaveLen(1))
		Expect(shown.Substitutions).To(HaveLen(len(listed.ManifestSubstitutions)))
		for _, substitution := range listed.ManifestSubstitutions {
			Expect(shown.Substitutions).To(HaveKeyWithValue(substitution.Key, *substitution.Value))
		}
	})
})
