package bootimages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// looker is who runs the commands that look.
type looker struct{ kubeconfig string }

func admin() looker { return looker{env.Cluster.Kubeconfig()} }

// as is somebody who may read what the help of the commands names, and no Secrets.
func as(ctx context.Context, user string) looker {
	GinkgoHelper()
	rule := func(verb, group string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{Verbs: []string{verb}, APIGroups: []string{group}, Resources: resources}
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "look-at-boot-images"}, Rules: []rbacv1.PolicyRule{
		rule("get", "config.openshift.io", "clusteroperators", "infrastructures", "clusterversions"), rule("get", "operator.openshift.io", "machineconfigurations"),
		rule("get", "", "configmaps"), rule("get", "coordination.k8s.io", "leases"), rule("list", "", "nodes"),
		rule("list", "machine.openshift.io", "machinesets", "controlplanemachinesets"), rule("list", "cluster.x-k8s.io", "clusters", "machinesets", "machinedeployments"),
		rule("list", "infrastructure.cluster.x-k8s.io", "awsmachinetemplates", "gcpmachinetemplates"),
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, o := range []client.Object{role, binding} {
		Expect(env.Client.Create(ctx, o)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(env.Client.Delete(ctx, o)).To(Succeed()) })
	}
	return stranger(user)
}

// stranger has no rights.
func stranger(user string) looker {
	GinkgoHelper()
	kubeconfig, err := env.Cluster.KubeconfigFor(user)
	Expect(err).NotTo(HaveOccurred())
	return looker{kubeconfig}
}

// run runs a command about boot images, which has to end with a code.
func (l looker) run(ctx context.Context, code int, command string, arguments ...string) string {
	GinkgoHelper()
	out, ended := l.try(ctx, command, arguments...)
	Expect(ended).To(Equal(code), out)
	AddReportEntry("capstan "+command+" boot-images", out, ReportEntryVisibilityFailureOrVerbose)
	return out
}

// try runs one, and returns with which code it has ended.
func (l looker) try(ctx context.Context, command string, arguments ...string) (told string, code int) {
	GinkgoHelper()
	var out bytes.Buffer
	run := exec.CommandContext(ctx, bin+"/capstan", append([]string{command, "boot-images", "--kubeconfig=" + l.kubeconfig}, arguments...)...)
	run.Stdout, run.Stderr = &out, &out
	var exit *exec.ExitError
	if err := run.Run(); err != nil && !errors.As(err, &exit) {
		Fail(err.Error())
	}
	return out.String(), run.ProcessState.ExitCode()
}

// shows waits until a command tells this: what the operator stores may be some seconds late.
func (l looker) shows(ctx context.Context, code int, what OmegaMatcher, command string, arguments ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		out, ended := l.try(ctx, command, arguments...)
		g.Expect(ended).To(Equal(code), out)
		g.Expect(out).To(what)
	}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).Should(Succeed())
}

// The exit codes of capstan status boot-images.
const (
	codeFailed   = 1
	codeOnItsWay = 2
	codeLook     = 3
)

var _ = Describe("The commands that look at boot images", func() {
	It("tell of each target why it has moved or not, also when no operator runs, and write nothing", func(ctx SpecContext) {
		s, hot := contested(ctx)
		Expect(s.operator.Stop()).To(Succeed())
		s.operate(ctx, both, "--leader-elect=true")
		moved := create(ctx, machineSet("moved", onAWS(ami(1))))
		foreign := create(ctx, machineSet("foreign", onAWS("ami-0123456789abcdef0")))
		create(ctx, capiSet("moved", create(ctx, awsTemplate("first", ami(1)))))
		becomes(ctx, moved, amiID, ami(2))
		for state, count := range map[string]int{"Current": 1, "Skipped": 1, "HotLoop": 1, "Unenrolled": 1} {
			s.targets(ctx, state, count)
		}
		gate(ctx, "Open")
		onHot, onForeign := "machinesets.machine.openshift.io/"+hot.GetName(), "machinesets.machine.openshift.io/foreign"
		retry := "kubectl annotate machinesets.machine.openshift.io -n openshift-machine-api " + hot.GetName() + " --overwrite " + retryOnce + "='1'"

		By("looking while the operator is at work")
		admin().shows(ctx, codeLook, And(
			MatchRegexp(`Gate: +Open since `), MatchRegexp(`Operator: +at work: .* holds the Lease `), MatchRegexp(`MachineAPI MachineSet +1 +3 +1 +0\n`),
			MatchRegexp(`Upgrades: +Upgradeable False; skew mode Automatic.*ClusterBootImageSkewError`),
			ContainSubstring(onHot+"  HotLoop\n"), ContainSubstring("administrator has written it last"), ContainSubstring(onForeign+"  Skipped\n"), ContainSubstring("Foreign: image ami-0123456789abcdef0"),
			ContainSubstring("Not enrolled: 1, machinesets.cluster.x-k8s.io/moved\n"), Not(ContainSubstring("machinesets.machine.openshift.io/moved")),
		), "status", "--exit-code")
		var status struct {
			Gate    struct{ State, Recorded string }
			Targets []struct{ Target, State, Next string }
		}
		Expect(json.Unmarshal([]byte(admin().run(ctx, 0, "status", "-o=json")), &status)).To(Succeed())
		Expect(status.Gate.State + " " + status.Gate.Recorded).To(Equal("Open Open"))
		Expect(status.Targets).To(HaveLen(3))
		Expect(status.Targets[1].Target + " " + status.Targets[1].State).To(Equal(onForeign + " Skipped"))
		Expect(status.Targets[1].Next).To(ContainSubstring(adopt + "='ami-0123456789abcdef0'"))
		explained := func(l looker, target string, what ...OmegaMatcher) {
			GinkgoHelper()
			Expect(l.run(ctx, 0, "explain", target)).To(And(what...))
		}
		explained(admin(), onHot, MatchRegexp(`State: +HotLoop since `), MatchRegexp(`Attempts: +3 used, 0 left; `), MatchRegexp(`No +AttemptsLeft`), ContainSubstring("Next step\n  kubectl annotate"))
		explained(admin(), "foreign", MatchRegexp(`State: +Skipped\n`), MatchRegexp(`Image: +ami-0123456789abcdef0\n`), MatchRegexp(`Wanted: +`+ami(2)), MatchRegexp(`Why: +Foreign`), MatchRegexp(`Written: +No: as is said above`),
			MatchRegexp(`Enrolled: +Yes: .*machinesets All in status.managedBootImagesStatus`), MatchRegexp(`Stub: +spec 3.1.0 in Secret openshift-machine-api/worker-user-data`))
		explained(admin(), "machinesets.machine.openshift.io/moved", MatchRegexp(`State: +Current\n`), MatchRegexp(`Image: +`+ami(2)), ContainSubstring("Next step\n  none"))
		explained(admin(), "machinesets.cluster.x-k8s.io/moved", MatchRegexp(`State: +Unenrolled\n`), MatchRegexp(`Enrolled: +No: `), ContainSubstring("Next step\n  kubectl annotate machineconfiguration cluster --overwrite "+bySets+"=All"))
		Expect(admin().run(ctx, codeLook, "status", onHot, "--exit-code")).To(ContainSubstring(retry))
		Expect(admin().run(ctx, codeFailed, "explain", "machineset/moved")).To(And(ContainSubstring("is ambiguous"), ContainSubstring("machinesets.cluster.x-k8s.io/moved, machinesets.machine.openshift.io/moved")))
		Expect(admin().run(ctx, codeFailed, "explain", "ms/foriegn")).To(And(ContainSubstring("does not exist"), ContainSubstring("near it are: "+onForeign)))

		By("looking without rights, and with all but that to Secrets")
		Expect(stranger("stranger").run(ctx, codeFailed, "status")).To(And(ContainSubstring("not allowed to get ClusterOperator cluster-api"), ContainSubstring("next: ask for the right")))
		some := as(ctx, "looker")
		explained(some, "foreign", MatchRegexp(`Stub: +its version is not known in Secret openshift-machine-api/worker-user-data: .*cannot get resource "secrets"`), MatchRegexp(`State: +Skipped\n`))
		Expect(some.run(ctx, codeLook, "status", "--exit-code")).To(And(ContainSubstring("Not read, so that some answers are Unknown"), ContainSubstring(onHot+"  HotLoop")))

		By("looking while no operator runs")
		Expect(s.operator.Stop()).To(Succeed())
		s.operator = nil
		Expect(admin().run(ctx, codeLook, "status", "--exit-code")).To(And(
			MatchRegexp(`Gate: +Open since `), MatchRegexp(`Operator: +not at work: .*; its record was written .* ago; --boot-images=MachineAPI,ClusterAPI\n`),
			ContainSubstring(onHot+"  HotLoop\n"), ContainSubstring(onForeign+"  Skipped\n"), MatchRegexp(`MachineAPI MachineSet +1 +3 +1 +0\n`),
		))
		annotate(ctx, foreign, adopt, "ami-0123456789abcdef0")
		explained(admin(), "foreign", MatchRegexp(`State: +Deciding, to which the objects as they are now lead from Skipped`), MatchRegexp(`Written: +Yes`), ContainSubstring("Next step\n  have the operator run again"))
		requests, err := env.Cluster.RequestsSince(ctx, s.from)
		Expect(err).NotTo(HaveOccurred())
		looked := requests.By("capstan-cli")
		Expect(looked).NotTo(BeEmpty())
		Expect(looked.Writes()).To(BeEmpty())
	})

	It("tell which question the gate does not answer with Yes, and until when", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.history(ctx, configv1.CompletedUpdate, s.version(2), s.version(1), installed)
		s.goldenStream(ctx, golden(2), s.version(1))
		gate(ctx, "WaitingForVoucher")
		admin().shows(ctx, codeOnItsWay, And(
			MatchRegexp(`Gate: +WaitingForVoucher since `), MatchRegexp(`Waits for: +GoldenIsVouched: .*is not of release `+s.version(2)), MatchRegexp(`Deadline: +VoucherOverdue in `),
			MatchRegexp(`MachineAPI MachineSet +1 +1 +0 +0\n`),
		), "status", "--exit-code")
		Expect(admin().run(ctx, 0, "explain")).To(And(
			ContainSubstring("1. Applies: Yes: "), ContainSubstring("3. ReleaseIsComplete: Yes: "), ContainSubstring("5. GoldenIsVouched: No: "), ContainSubstring("releaseVersion="+s.version(1)),
			MatchRegexp(`machinesets.machine.openshift.io +All\n`), MatchRegexp(`machinesets.cluster.x-k8s.io +none: nobody has said anything\n`),
		))
		Expect(admin().run(ctx, 0, "explain", sets[0].GetName())).To(And(
			MatchRegexp(`State: +Current\n`), MatchRegexp(`Image: +`+ami(1)), MatchRegexp(`Wanted: +not known\n`), MatchRegexp(`Why: .*is not of release`), MatchRegexp(`No +GateIsOpen +as is said above`),
			ContainSubstring("Next step\n  capstan explain boot-images"),
		))
	})

	It("follow what happens until they are interrupted", func(ctx SpecContext) {
		s, sets := standing(ctx, 1)
		s.history(ctx, configv1.CompletedUpdate, s.version(2), s.version(1), installed)
		s.goldenStream(ctx, golden(2), s.version(1))
		gate(ctx, "WaitingForVoucher")

		watching := exec.CommandContext(ctx, bin+"/capstan", "status", "boot-images", "--watch", "--kubeconfig="+admin().kubeconfig)
		out, err := os.Create(filepath.Join(GinkgoT().TempDir(), "watched"))
		Expect(err).NotTo(HaveOccurred())
		defer out.Close()
		watching.Stdout, watching.Stderr = out, out
		Expect(watching.Start()).To(Succeed())
		shows := func(text string) {
			GinkgoHelper()
			Eventually(func() (string, error) {
				seen, err := os.ReadFile(out.Name())
				return string(seen), err
			}).WithContext(ctx).WithTimeout(patience).WithPolling(time.Second).Should(ContainSubstring(text))
		}
		shows("Z gate WaitingForVoucher: ")
		s.goldenStream(ctx, golden(2), s.version(2))
		becomes(ctx, sets[0], amiID, ami(2))
		shows("Z gate Open; MachineAPI MachineSet: 1 of 1 done, 0 skipped, 0 moving\n")
		Expect(watching.Process.Signal(syscall.SIGINT)).To(Succeed())
		Expect(watching.Wait()).To(Succeed())
	})
})
