package clusterapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// The exit codes of capstan status --exit-code.
const (
	codeInstalled = 0
	codeFailed    = 1
	codeOnItsWay  = 2
	codeLook      = 3
)

var _ = Describe("The commands that look at a cluster", func() {
	It("tell of an installed one, and need the right to get two objects, and no other", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		mayGet(ctx, "reader")
		operate(harness.OperatorOptions{})
		v := installed(ctx, 1)
		until(ctx, "the conditions of a finished installation", finished)

		since := mark(ctx)
		reader := as("reader")
		Expect(reader.run(ctx, codeInstalled, "status", "--exit-code")).To(And(
			ContainSubstring("State:      Installed since "), ContainSubstring("Installed:  release 4.22.0"),
			ContainSubstring("  1  "+v.Current()+"  desired and installed"), MatchRegexp(`wave 1/4 +\[##########\] +alpha +1/1 +crds`),
			MatchRegexp(`Ready +alpha +\S+@sha256:`), MatchRegexp(`Available +True +\S+ +AsExpected`),
		))
		var told struct {
			State     string
			Waits     string
			Revisions []struct {
				Number           int64
				Desired, Current bool
			}
			Conditions []struct{ Type, Status string }
		}
		Expect(json.Unmarshal([]byte(reader.run(ctx, codeInstalled, "status", "-o", "json")), &told)).To(Succeed())
		Expect(told.State).To(Equal(harness.Installed))
		Expect(told.Waits).To(ContainSubstring("everything is as it should be"))
		Expect(told.Revisions).To(HaveLen(1))
		Expect(told.Revisions[0].Desired && told.Revisions[0].Current).To(BeTrue())
		Expect(len(told.Conditions)).To(BeNumerically(">=", 10))

		Expect(reader.run(ctx, codeInstalled, "explain")).To(And(
			ContainSubstring("This cluster has been in Installed since "), ContainSubstring("WaitingOnInfra --InfrastructureKnown--> Planning"),
			ContainSubstring("because the platform is AWS"), ContainSubstring("GateLost leads to Degraded: "),
			MatchRegexp(`now +No: all \d+ objects of revision 1 are applied`), MatchRegexp(`now +No: the last attempt met no error`),
		))
		Expect(reader.run(ctx, codeInstalled, "diagram", "--live")).To(And(
			HavePrefix("stateDiagram-v2\n"), ContainSubstring("class Installed current\n"), ContainSubstring("Pruning --> Installed: (4) OrphansGone"),
		))
		asked, err := env.Cluster.RequestsSince(ctx, since)
		Expect(err).NotTo(HaveOccurred())
		asked = asked.By("capstan-cli")
		Expect(asked).NotTo(BeEmpty())
		for _, request := range asked {
			Expect(request.Verb+" "+request.Resource).To(BeElementOf("get clusterapis", "get clusteroperators"), request.String())
		}
	})

	It("decide again what the flight recorder has recorded", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, newProvider("alpha"))})
		operator := operate(harness.OperatorOptions{})
		installed(ctx, 1)
		Expect(operator.Stop()).To(Succeed()) // which writes what is left

		recorded := &corev1.ConfigMap{}
		Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: harness.OperatorNamespace, Name: "capstan-recorder"}, recorded)).To(Succeed())
		recorded.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
		asYAML, err := yaml.Marshal(recorded)
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "flight.yaml")
		Expect(os.WriteFile(file, asYAML, 0o600)).To(Succeed())

		nobody := command{}
		Expect(nobody.run(ctx, 0, "replay", file)).To(And(
			ContainSubstring("Applying --RevisionApplied--> Pruning"), MatchRegexp(`asked +RevisionIsApplied: Yes, all \d+ objects`),
			ContainSubstring("Created Deployment openshift-cluster-api/alpha"), HaveSuffix("4 of 4 decisions are taken again as they were recorded\n"),
		))
		var replayed struct {
			Decisions, Differ int
			Steps             []map[string]any
		}
		Expect(json.Unmarshal([]byte(nobody.run(ctx, 0, "replay", file, "-o", "json")), &replayed)).To(Succeed())
		Expect(replayed.Decisions).To(Equal(4))

		lie := strings.ReplaceAll(`{"at":"2026-01-01T00:00:00Z","kind":"transition","decision":{"at":"2026-01-01T00:00:00Z","state":"Applying",
			"progressed":"2026-01-01T00:00:00Z","answers":[{"guard":"RevisionIsApplied","answer":"Yes"}],"event":"ContentChanged","to":"Planning"}}`, "\n\t\t\t", "")
		Expect(os.WriteFile(file, []byte(lie), 0o600)).To(Succeed())
		Expect(nobody.run(ctx, codeFailed, "replay", file)).To(And(ContainSubstring("DIFFERS"), ContainSubstring("1 decision differ")))
		Expect(os.WriteFile(file, asYAML[:len(asYAML)/2], 0o600)).To(Succeed())
		Expect(nobody.run(ctx, codeFailed, "replay", file)).To(ContainSubstring("flight.yaml: reading the file"))
	})

	It("follow what happens until they are interrupted", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, tiny("1").running("stuck"))})
		letGo := hold(ctx, "stuck")
		operate(harness.OperatorOptions{})
		until(ctx, "the rollout to be stuck", stuckOn("Deployment openshift-cluster-api/tiny"))

		watching := admin().command("status", "--watch")
		out, err := os.Create(filepath.Join(GinkgoT().TempDir(), "watched"))
		Expect(err).NotTo(HaveOccurred())
		defer out.Close()
		watching.Stdout, watching.Stderr = out, out
		Expect(watching.Start()).To(Succeed())
		shows := func(text string) {
			GinkgoHelper()
			eventually(ctx, text+" to be shown", func(context.Context) error {
				seen, err := os.ReadFile(out.Name())
				if err == nil && !strings.Contains(string(seen), text) {
					err = fmt.Errorf("it shows %q", seen)
				}
				return err
			})
		}
		shows("waits for Deployment openshift-cluster-api/tiny")
		Expect(admin().run(ctx, codeOnItsWay, "status", "--exit-code")).To(And(
			MatchRegexp(`Deadline: +Degraded in [0-5]m\d\ds \(ProgressStalled at `), ContainSubstring("waits for Deployment openshift-cluster-api/tiny")))
		letGo()
		shows("Installed 4.22.0-")
		Expect(watching.Process.Signal(syscall.SIGINT)).To(Succeed())
		Expect(watching.Wait()).To(Succeed())
		seen, err := os.ReadFile(out.Name())
		Expect(err).NotTo(HaveOccurred())
		Expect(string(seen)).NotTo(ContainSubstring("\x1b"))
	})

	It("say what to do where there is nothing to tell", func(ctx SpecContext) {
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, NoClusterAPI: true})
		Expect(admin().run(ctx, 0, "status")).To(And(ContainSubstring("holds no record of the machine"), ContainSubstring("is the operator running?"), ContainSubstring("none is listed")))
		Expect(admin().run(ctx, codeOnItsWay, "status", "--exit-code")).To(ContainSubstring("not known"))
		Expect(admin().run(ctx, codeFailed, "explain")).To(ContainSubstring("holds no record of the machine"))
		Expect(admin().run(ctx, codeFailed, "diagram", "--live")).To(ContainSubstring("holds no record of the machine"))
		Expect(admin().run(ctx, codeFailed, "recover", "--dry-run")).To(And(ContainSubstring("ClusterAPI cluster does not exist"), ContainSubstring("next: create it")))
		Expect(admin().run(ctx, codeFailed, "retry", "--yes")).To(ContainSubstring("ClusterAPI cluster does not exist"))

		Expect(env.Client.Delete(ctx, &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: harness.ClusterOperatorName}})).To(Succeed())
		Expect(admin().run(ctx, codeFailed, "explain")).To(ContainSubstring("no operator has reported on this cluster"))

		Expect(as("stranger").run(ctx, codeFailed, "status")).To(And(ContainSubstring("not allowed to get ClusterAPI cluster"), ContainSubstring("next: ask for the right")))
		Expect(as("stranger").run(ctx, codeFailed, "retry", "--yes")).To(ContainSubstring("not allowed to get ClusterAPI cluster"))
		Expect(admin().run(ctx, codeFailed, "status", "--context", "elsewhere")).To(And(ContainSubstring(`no context "elsewhere"`), ContainSubstring("get-contexts")))
		Expect(command{kubeconfig: "/nowhere"}.run(ctx, codeFailed, "status")).To(ContainSubstring("the kubeconfig /nowhere does not exist"))
		Expect(command{}.run(ctx, codeFailed, "status")).To(ContainSubstring("no cluster is named"))
	})
})

var _ = Describe("The commands that lead out of bad states", func() {
	It("make room for a revision and orphan no object", func(ctx SpecContext) {
		only := configMap("only-2", "one")
		begin(ctx, harness.World{Platform: configv1.AWSPlatformType, Images: push(ctx, tiny("1"))})
		mayGet(ctx, "reader")
		operate(harness.OperatorOptions{})
		first := installed(ctx, 1)
		hold(ctx, "stuck")
		release(ctx, tiny("2").running("stuck").with(only))
		appears(ctx, only)
		for number := 3; number <= 16; number++ {
			release(ctx, tiny(fmt.Sprint(number)).running("stuck"))
			until(ctx, fmt.Sprintf("revision %d to be listed", number), listed(number))
		}
		release(ctx, tiny("17"))
		until(ctx, "the limit to be reached", inState(harness.MaxRevisions))
		Expect(admin().run(ctx, codeLook, "status", "--exit-code")).To(ContainSubstring("State:      MaxRevisions since"))
		Expect(admin().run(ctx, 0, "explain")).To(And(ContainSubstring("RoomMade leads to Planning"), ContainSubstring("16 revisions are listed")))

		Expect(admin().run(ctx, codeFailed, "recover")).To(And(ContainSubstring("Can be removed from the list: 14 revisions"), ContainSubstring("nobody sits at a terminal who could be asked")))
		Expect(admin().run(ctx, codeFailed, "recover", "--dry-run", "--yes")).To(ContainSubstring("say either --dry-run"))
		Expect(as("reader").run(ctx, codeFailed, "recover", "--dry-run")).To(ContainSubstring("not allowed to get ConfigMap openshift-cluster-api-operator/capstan-inventory-1"))
		Expect(admin().run(ctx, 0, "recover", "--dry-run")).To(And(
			ContainSubstring("lists 16 of at most 16 revisions"), ContainSubstring("Can be removed from the list: 14 revisions"),
			ContainSubstring("it never completed"), ContainSubstring("it is installed"), ContainSubstring("it is the desired revision"),
			MatchRegexp(`revisions 2, 3, [0-9, ]*: ConfigMap capstan-inventory-<number> lists what was applied and stays`),
			ContainSubstring("ConfigMap openshift-cluster-api/only-2 (revision 2)"), ContainSubstring("Nothing was changed"),
		))
		until(ctx, "nothing to be changed", listed(16), inState(harness.MaxRevisions))

		Expect(admin().run(ctx, 0, "recover", "--yes")).To(And(ContainSubstring("Removed from the list: 14 revisions"), ContainSubstring("Done.")))
		v := installed(ctx, 17)
		Expect(v.Revisions()).To(HaveLen(1))
		Expect(v.Current()).NotTo(Equal(first.Current()))
		expectGone(ctx, only)
		Expect(inventories(ctx)).To(ConsistOf("capstan-inventory-17"))
		Expect(admin().run(ctx, 0, "recover", "--yes")).To(ContainSubstring("Nothing to do: there is room for 15 more revisions."))
	})

	It("ask for another attempt", func(ctx SpecContext) {
		g := installSmall(ctx)
		mayGet(ctx, "reader")
		Expect(env.SetImages(ctx, pushSpoilt(ctx, adding(manifestsFile, "\n---\nnonsense: [\n")))).To(Succeed())
		until(ctx, "the machine to be degraded", inState(harness.Degraded))
		Expect(admin().run(ctx, codeLook, "status", "--exit-code")).To(And(ContainSubstring("State:      Degraded since"), ContainSubstring("terminal: tried again every 10 minutes")))
		Expect(admin().run(ctx, 0, "explain")).To(And(
			ContainSubstring("--FailureEstablished--> Degraded"), ContainSubstring("WorkSucceeded leads to Planning"), ContainSubstring("InputChanged: ")))

		before := len(until(ctx, "the moves so far").Record.Transitions)
		Expect(as("reader").run(ctx, codeFailed, "retry", "--yes")).To(ContainSubstring("not allowed to patch ClusterAPI cluster"))
		Expect(admin().run(ctx, codeFailed, "retry")).To(And(ContainSubstring("Ask for another attempt now"), ContainSubstring("nobody sits at a terminal who could be asked")))
		Expect(admin().run(ctx, 0, "retry", "--dry-run")).To(ContainSubstring("Nothing was changed."))
		Expect(admin().run(ctx, 0, "retry", "--yes")).To(And(
			ContainSubstring("There is nothing to undo."), ContainSubstring("Another attempt is asked for. Watch it with: capstan status --watch")))
		until(ctx, "another attempt", func(v harness.View) error {
			made := path(v)[min(before, len(v.Record.Transitions)):]
			if len(made) < 2 || made[0] != "InputChanged" || made[1] != "FailureEstablished" {
				return fmt.Errorf("the moves since are %v", made)
			}
			return nil
		})
		g.isKept(ctx)
	})
})

// command runs bin/capstan with a kubeconfig, or with none.
type command struct{ kubeconfig string }

func admin() command {
	GinkgoHelper()
	return as("an-administrator", "system:masters")
}

// as is a user of the cluster.
func as(user string, groups ...string) command {
	GinkgoHelper()
	kubeconfig, err := env.Cluster.KubeconfigFor(user, groups...)
	Expect(err).NotTo(HaveOccurred())
	return command{kubeconfig}
}

func (c command) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, "capstan"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "HOME=/nowhere")
	if c.kubeconfig != "" && args[0] != "replay" {
		cmd.Args = append(cmd.Args, "--kubeconfig", c.kubeconfig)
	}
	return cmd
}

// run runs a command to its end, which must have an exit code, and returns all that it printed.
func (c command) run(ctx context.Context, code int, args ...string) string {
	GinkgoHelper()
	cmd := c.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		Fail(err.Error())
	}
	Expect(cmd.ProcessState.ExitCode()).To(Equal(code), "capstan %s says:\n%s", strings.Join(args, " "), out.String())
	AddReportEntry("capstan "+strings.Join(args, " "), out.String(), ReportEntryVisibilityFailureOrVerbose)
	Expect(ctx.Err()).NotTo(HaveOccurred())
	return out.String()
}

// mayGet lets a user get the two objects that everything can be read from.
func mayGet(ctx context.Context, user string) {
	GinkgoHelper()
	name := "get-" + user
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"operator.openshift.io"}, Resources: []string{"clusterapis"}, ResourceNames: []string{harness.Singleton}, Verbs: []string{"get"}},
			{APIGroups: []string{"config.openshift.io"}, Resources: []string{"clusteroperators"}, ResourceNames: []string{harness.ClusterOperatorName}, Verbs: []string{"get"}},
		},
	})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
}
