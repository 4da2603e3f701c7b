package compatibility_test

import (
	"context"
	"encoding/json"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("capstan disarm", func() {
	It("has writes pass that nobody answers for, without operator and checker", func(ctx SpecContext) {
		c := served(ctx)
		established(ctx, schema)
		c.needs(ctx, "need", schema, deny, "")
		c.configureCRDs(ctx, "/crds/deny")
		theirs := c.hook("theirs", "/crds/deny", rule("example.com", "v1", []string{"nothing"}, "CREATE"))
		theirs.Labels, theirs.Webhooks[0].Name = nil, "hook.example.com"
		Expect(env.Client.Create(ctx, theirs)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, theirs)).To(Succeed()) })
		c.Kill()
		Expect(c.update(ctx, without("color:"))).To(MatchError(ContainSubstring("failed calling webhook")))
		Expect(metrics(ctx)).To(MatchRegexp(`(?m)^apiserver_admission_webhook_rejection_count\{error_type="calling_webhook_error",name="hook\.capstan\.openshift\.io"`), "what alert CapstanCheckerUnreachable asks for")

		disarm := func(arguments ...string) string {
			GinkgoHelper()
			out, err := exec.CommandContext(ctx, bin+"/capstan", append([]string{"disarm", "--kubeconfig=" + env.Cluster.Kubeconfig()}, arguments...)...).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			return string(out)
		}
		Expect(disarm("--dry-run")).To(And(ContainSubstring("ValidatingWebhookConfiguration capstan-crds, webhook hook.capstan.openshift.io, is to be set to Ignore"), ContainSubstring("Nothing was changed")))
		Expect(c.update(ctx, without("color:"))).NotTo(Succeed())
		Expect(disarm("--yes")).To(And(ContainSubstring("is set to Ignore"), ContainSubstring("sets them back to Fail by itself"), ContainSubstring("capstan disarm --yes --for 15m")))
		eventually(ctx, "the write to pass", func(ctx context.Context) error { return c.update(ctx, without("color:")) })

		var plan struct {
			Entries []any `json:"entries"`
			Ignored int   `json:"ignored"`
			Done    bool  `json:"done"`
		}
		Expect(json.Unmarshal([]byte(disarm("--yes", "-o", "json")), &plan)).To(Succeed())
		Expect(plan.Entries).To(BeEmpty())
		Expect(plan.Ignored).To(Equal(1))
		Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(theirs), theirs)).To(Succeed())
		Expect(*theirs.Webhooks[0].FailurePolicy).To(Equal(admissionregistrationv1.Fail))
	})
})
