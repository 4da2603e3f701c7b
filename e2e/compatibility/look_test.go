package compatibility_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The commands that look at a requirement", func() {
	It("tell of the one that is named, say which there are, and need no right but to read requirements", func(ctx SpecContext) {
		s := shared(ctx)
		k := newKind()
		k.establish(ctx, k.definition(without("color:")))
		r := inForce(ctx, k.requirement(k.definition(schema)))
		told(ctx, r, "State", "True", "Unmet")
		role := &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: "look-at-requirements"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"apiextensions.openshift.io"}, Resources: []string{"compatibilityrequirements"}, Verbs: []string{"get", "list"}}},
		}
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "looker"}},
		}
		Expect(env.Client.Create(ctx, role)).To(Succeed())
		Expect(env.Client.Create(ctx, binding)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(env.Client.Delete(ctx, binding)).To(Succeed())
			Expect(env.Client.Delete(ctx, role)).To(Succeed())
		})
		kubeconfig, err := env.Cluster.KubeconfigFor("looker")
		Expect(err).NotTo(HaveOccurred())

		capstan := func(code int, arguments ...string) string {
			GinkgoHelper()
			var out bytes.Buffer
			command := exec.CommandContext(ctx, bin+"/capstan", append(arguments, "--machine=compatibility", "--kubeconfig="+kubeconfig)...)
			command.Stdout, command.Stderr = &out, &out
			var exit *exec.ExitError
			if err := command.Run(); err != nil && !errors.As(err, &exit) {
				Fail(err.Error())
			}
			Expect(command.ProcessState.ExitCode()).To(Equal(code), out.String())
			AddReportEntry("capstan "+arguments[0], out.String(), ReportEntryVisibilityFailureOrVerbose)
			return out.String()
		}
		Expect(capstan(2, "status", "--exit-code", "--key="+r.Name)).To(And(
			ContainSubstring("Unmet since "), ContainSubstring("v1: spec.color is missing"), MatchRegexp(`Compatible +False +\S+ +RequirementsNotMet`),
		))
		var explained struct{ Instance, State string }
		Expect(json.Unmarshal([]byte(capstan(0, "explain", "--key="+r.Name, "-o=json")), &explained)).To(Succeed())
		Expect(explained.Instance).To(Equal("CompatibilityRequirement " + r.Name))
		Expect(capstan(0, "explain", "--key="+r.Name)).To(And(
			HavePrefix("CompatibilityRequirement "+r.Name+" has been in Unmet since "), ContainSubstring("has no room for what each guard answers"), Not(ContainSubstring("not told")),
		))
		Expect(capstan(0, "diagram", "--live", "--key="+r.Name)).To(ContainSubstring("class Unmet current"))
		s.records(ctx, r)
		for _, command := range []string{"status", "explain"} {
			Expect(capstan(1, command)).To(And(ContainSubstring("--key is missing"), ContainSubstring(r.Name)))
			Expect(capstan(1, command, "--key=nobody")).To(And(ContainSubstring("CompatibilityRequirement nobody does not exist"), ContainSubstring(r.Name)))
			Expect(capstan(1, command, "--key=default/"+r.Name)).To(ContainSubstring("without a namespace"))
		}
		Expect(capstan(1, "diagram", "--key="+r.Name)).To(ContainSubstring("--live"))
	})
})

// records waits until the flight recorder has how a requirement came into force, and has all that is recorded decided again.
func (s *stage) records(ctx context.Context, r *requirement) {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "entries.jsonl.gz")
	s.sooner(ctx, "the requirement to be in the recorder's file", func(ctx context.Context) error {
		recorded := &corev1.ConfigMap{}
		if err := env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-recorder"}, recorded); err != nil {
			return err
		}
		Expect(os.WriteFile(file, recorded.BinaryData["entries.jsonl.gz"], 0o600)).To(Succeed())
		out, err := exec.CommandContext(ctx, bin+"/capstan", "replay", file).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		for _, text := range []string{r.Name, "Arming --RequirementUnmet--> Unmet", "are taken again as they were recorded"} {
			if !strings.Contains(string(out), text) {
				return errors.New("it lacks " + text)
			}
		}
		return nil
	})
}
