package inputs

import (
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/ignition"
	"github.com/capstan-capi/capstan/phases/payload/job"
)

func byInstaller(p *v1alpha1.OpenShiftControlPlane) {
	p.Spec.Ignition = v1alpha1.Ignition{Engine: v1alpha1.InstallerJob, InstallerImage: "registry.example.com/installer@sha256:" + strings.Repeat("1", 64)}
}

// made by an installer are configs, of which the bootstrap's has a kubeconfig.
func installers(t *testing.T, who string) payload.Payload {
	t.Helper()
	config := func(role string, files ...ignition.File) []byte {
		text, err := ignition.Render(ignition.Content{Files: append(files, ignition.File{Path: "/etc/who", Mode: 0o644, Data: []byte(role + " of " + who)})})
		must(t, err)
		return text
	}
	return payload.Payload{
		Bootstrap: config("bootstrap", ignition.File{Path: installerKubeconfig, Mode: 0o600, Data: []byte("a kubeconfig")}),
		Master:    config("master"), Worker: config("worker"),
	}
}

// started is a management plane on which the installer runs, and the name of its Job.
func started(t *testing.T) (*bench, string) {
	t.Helper()
	b := whole(t, byInstaller)
	b.freeze()
	b.writes = nil
	seen, _ := b.see()
	result, err := seen.GenerateIgnition(t.Context())
	must(t, err)
	if result.LookAgain != whileRunning {
		t.Errorf("it says %+v", result)
	}
	return b, b.job().Name
}

func (b *bench) job() *batchv1.Job {
	b.t.Helper()
	list := &batchv1.JobList{}
	must(b.t, b.live.List(b.t.Context(), list))
	if len(list.Items) != 1 {
		b.t.Fatalf("there are %d Jobs", len(list.Items))
	}
	return &list.Items[0]
}

// ended has the Job have come to an end, with what collect has stored.
func (b *bench) ended(condition batchv1.JobConditionType, data map[string][]byte) {
	b.t.Helper()
	is := b.job()
	name := is.Name
	is.Status.Conditions = []batchv1.JobCondition{{Type: condition, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}}
	must(b.t, b.cluster.Status().Update(b.t.Context(), is))
	edit(b, &corev1.Secret{}, name, func(s *corev1.Secret) { s.Data = data })
}

func (b *bench) packed(who string) map[string][]byte {
	b.t.Helper()
	data, err := job.Pack(installers(b.t, who))
	must(b.t, err)
	return data
}

func TestInstallerJob_makes_the_payload_and_leaves_only_what_it_has_made(t *testing.T) {
	b, name := started(t)
	if want := []string{"create " + name + "-assets-0", "create " + name, "create " + name, "create " + name, "create " + name, "create " + name}; !slices.Equal(b.writes, append([]string{"patch t"}, want...)) && !slices.Equal(b.writes, want) {
		t.Errorf("it wrote %v", b.writes)
	}
	is := b.job()
	if pod := is.Spec.Template.Spec; len(pod.Containers) != 2 || pod.Containers[1].Image != b.CollectImage || !metav1.IsControlledBy(is, asked()) || *is.Spec.ActiveDeadlineSeconds != 570 {
		t.Errorf("the Job is %+v", is.Spec)
	}
	if answer, err := b.generate(); err != nil || answer.Truth != machine.No {
		t.Errorf("while it runs: %s, %v", answer.Truth, err)
	}
	b.ended(batchv1.JobComplete, b.packed("the first"))
	answer, err := b.generate()
	must(t, err)
	if answer.Truth != machine.Yes {
		t.Fatalf("it is %s: %s", answer.Truth, answer.Reason)
	}
	if got, err := payload.Unpacked(b.secret("a-ignition-master").Data); err != nil || string(got) != string(installers(t, "the first").Master) {
		t.Errorf("the master's is %s (%v)", got, err)
	}
	if got := b.secret("c-kubeconfig"); string(got.Data["value"]) != "a kubeconfig" || got.Type != "cluster.x-k8s.io/secret" {
		t.Errorf("the kubeconfig is %+v", got)
	}
	for left, kind := range map[string]client.Object{
		name: &batchv1.Job{}, name + "-assets-0": &corev1.Secret{},
	} {
		if err := b.live.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: left}, kind); !apierrors.IsNotFound(err) {
			t.Errorf("%T %s is left (%v)", kind, left, err)
		}
	}
	for _, kind := range []client.Object{&rbacv1.Role{}, &rbacv1.RoleBinding{}, &corev1.ServiceAccount{}} {
		if err := b.live.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, kind); !apierrors.IsNotFound(err) {
			t.Errorf("%T %s is left (%v)", kind, name, err)
		}
	}
	b.remove(made("a-ignition-worker", nil))
	if answer, err = b.generate(); err != nil || answer.Truth != machine.Yes {
		t.Errorf("a lost Secret does not come back: %s (%v)", answer.Reason, err)
	}
}

func TestInstallerJob_that_runs_is_looked_at_alone_and_what_it_has_stored_is_taken_at_once(t *testing.T) {
	b, name := started(t)
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	b.read = nil
	if _, err := b.generate(); err != nil || !slices.Equal(b.read, []string{"get " + name}) {
		t.Errorf("while it runs it reads %v (%v)", b.read, err)
	}
	edit(b, &corev1.Secret{}, name, func(s *corev1.Secret) { s.Data = b.packed("the first") })
	b.read = nil
	if answer, err := b.generate(); err != nil || answer.Truth != machine.Yes {
		t.Errorf("what it has stored is not taken: %s (%v)", answer.Reason, err)
	}
	keys, marks, taken := slices.Index(b.read, "get a-ignition-keys"), slices.Index(b.read, "get a"), slices.Index(b.read, "get c-kubeconfig")
	if keys < 0 || marks < keys || taken < marks {
		t.Errorf("marks are asked too soon, or not at all: %v", b.read)
	}
}

func TestInstallerJob_of_an_image_that_was_mended_is_not_waited_for(t *testing.T) {
	b, name := started(t)
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) {
		p.Spec.Ignition.InstallerImage, p.Generation = "registry.example.com/installer@sha256:"+strings.Repeat("2", 64), 2
	})
	b.writes = nil
	if _, err := b.generate(); err != nil || len(b.writes) == 0 || slices.Contains(b.writes, "create "+name) {
		t.Errorf("it wrote %v (%v)", b.writes, err)
	}
}

func TestInstallerJob_that_has_ended_or_gone_is_looked_at_as_a_whole(t *testing.T) {
	for name, change := range map[string]func(*bench){
		"ended": func(b *bench) { b.ended(batchv1.JobFailed, nil) },
		"gone":  func(b *bench) { b.remove(b.job()) },
	} {
		b, _ := started(t)
		if _, err := b.generate(); err != nil {
			t.Fatal(err)
		}
		change(b)
		b.read = nil
		_, err := b.generate()
		if failed := err != nil; failed != (name == "ended") || !slices.Contains(b.read, "get inputs") {
			t.Errorf("%s: it reads %v (%v)", name, b.read, err)
		}
	}
}

func TestInstallerJob_that_fails_thrice_is_told_with_the_end_of_its_log_without_secrets(t *testing.T) {
	b, name := started(t)
	b.ended(batchv1.JobFailed, map[string][]byte{job.LogKey: []byte(strings.Repeat("a line\n", 600) + "pull secret cHVsbGVyOmh1bnRlcjI= is wrong, password=letmein\nlevel=fatal msg=no such region")})
	_, err := b.generate()
	if err == nil || !machine.IsTerminal(err) {
		t.Fatalf("it says %v", err)
	}
	for _, says := range []string{"failed 3 times (BackoffLimitExceeded)", v1alpha1.RetryAnnotation, "Secret " + name + ", key log", "level=fatal msg=no such region"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("it does not say %q: %v", says, err)
		}
	}
	if text := err.Error(); strings.Contains(text, "hunter2") || strings.Contains(text, "cHVsbGVyOmh1bnRlcjI=") || strings.Contains(text, "letmein") || len(text) > machine.MaxMessage {
		t.Errorf("it says too much, in %d bytes: %s", len(text), text)
	}
	b.writes = nil
	if _, err = b.generate(); err == nil || len(b.writes) > 0 {
		t.Errorf("again it says %v and writes %v", err, b.writes)
	}
}

func TestInstallerJob_is_run_anew_when_somebody_asks_for_another_try(t *testing.T) {
	b, _ := started(t)
	b.ended(batchv1.JobFailed, nil)
	edit(b, asked(), "a", func(p *v1alpha1.OpenShiftControlPlane) { p.Annotations[v1alpha1.RetryAnnotation] = "2" })
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	is := b.job()
	if len(is.Status.Conditions) > 0 || is.Annotations[v1alpha1.RetryAnnotation] != "2" {
		t.Errorf("the Job is %+v", is)
	}
}

func TestInstallerJob_needs_the_providers_own_image(t *testing.T) {
	b := whole(t, byInstaller)
	b.CollectImage = ""
	b.freeze()
	if _, err := b.generate(); err == nil || !strings.Contains(err.Error(), "spec.ignition.engine to Builtin") {
		t.Errorf("it says %v", err)
	}
}

func TestInstallerJob_whose_result_cannot_be_used_has_failed(t *testing.T) {
	b, _ := started(t)
	b.ended(batchv1.JobComplete, map[string][]byte{"bootstrap.ign.gz": []byte("hunter2")})
	if _, err := b.generate(); err == nil || !machine.IsTerminal(err) || !strings.Contains(err.Error(), "cannot be used") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("it says %v", err)
	}
}

func TestInstallerJob_killed_before_any_write_goes_on_to_the_same_end(t *testing.T) {
	for kill := range 7 {
		b := whole(t, byInstaller)
		b.freeze()
		b.writes = nil
		b.refuse = func(string) error {
			if len(b.writes) > kill {
				return errBroken
			}
			return nil
		}
		_, _ = b.generate()
		b.refuse = nil
		b.restart(b.live)
		if _, err := b.generate(); err != nil {
			t.Fatalf("killed before write %d: %v", kill, err)
		}
		b.ended(batchv1.JobComplete, b.packed("the first"))
		if answer, err := b.generate(); err != nil || answer.Truth != machine.Yes {
			t.Errorf("killed before write %d: %s (%v)", kill, answer.Reason, err)
		}
	}
}

func TestInstallerJob_what_would_end_too_soon_is_made_anew(t *testing.T) {
	b, _ := started(t)
	b.ended(batchv1.JobComplete, b.packed("the first"))
	if _, err := b.generate(); err != nil {
		t.Fatal(err)
	}
	b.now = noon.Add(23 * time.Hour)
	b.change = func(f *guards.Facts) { f.Bootstrap.Known, f.Provisioned.Known = true, true }
	for range 2 {
		if _, err := b.generate(); err != nil {
			t.Fatal(err)
		}
	}
	b.ended(batchv1.JobComplete, b.packed("the second"))
	answer, err := b.generate()
	must(t, err)
	if got, err := payload.Unpacked(b.secret("a-ignition-master").Data); err != nil || answer.Truth != machine.Yes || string(got) != string(installers(t, "the second").Master) {
		t.Errorf("the master's is %s (%v), and it is %s", got, err, answer.Reason)
	}
	if _, facts := b.see(); facts.Payload.Ending {
		t.Error("it ends too soon")
	}
}

func TestInstallerJob_overwrites_nothing_that_is_somebody_elses(t *testing.T) {
	_, name := started(t)
	theirs := metav1.ObjectMeta{Namespace: key.Namespace, Name: name}
	for _, theirs := range []client.Object{made(name, nil), &batchv1.Job{ObjectMeta: theirs}, &rbacv1.Role{ObjectMeta: theirs}} {
		b := whole(t, byInstaller)
		b.add(theirs)
		b.freeze()
		if _, err := b.generate(); err == nil || !strings.Contains(err.Error(), "does not belong to") {
			t.Errorf("%T: it says %v", theirs, err)
		}
	}
}

func TestInstallerJob_log_of_a_failure_is_told_as_long_as_it_is_there_by_any_process(t *testing.T) {
	b, _ := started(t)
	if _, facts := b.see(); facts.Payload.Log != "" {
		t.Errorf("nothing has failed, and told is %q", facts.Payload.Log)
	}
	b.ended(batchv1.JobFailed, map[string][]byte{job.LogKey: []byte(strings.Repeat("a line\n", 2000) + "password=letmein\nlevel=fatal msg=no such region")})
	b.restart(b.live)
	_, facts := b.see()
	if log := facts.Payload.Log; !strings.HasSuffix(log, "no such region") || strings.Contains(log, "letmein") || len(log) < job.TailBytes/2 || len(log) > job.TailBytes {
		t.Errorf("told are %d bytes: %s", len(log), log[max(0, len(log)-100):])
	}
	b.read = nil
	if _, again := b.see(); again.Payload.Log != facts.Payload.Log || slices.ContainsFunc(b.read, func(r string) bool { return strings.Contains(r, "-ignition-") }) {
		t.Errorf("it was read again: %v", b.read)
	}
}
