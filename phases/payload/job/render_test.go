package job

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/phases/payload"
)

var update = flag.Bool("update", false, "write testdata; look at what changed before you commit it")

func TestRender_of_a_small_cluster_is_as_in_testdata(t *testing.T) {
	files, err := Folder(inputs(t, false, own))
	must(t, err)
	made, err := Render(request(files))
	must(t, err)
	var b bytes.Buffer
	for _, object := range []any{made.Assets[0], made.Result, made.ServiceAccount, made.Role, made.RoleBinding, made.Job} {
		text, err := yaml.Marshal(object)
		must(t, err)
		b.WriteString("---\n")
		b.Write(text)
	}
	const file = "testdata/objects.yaml"
	if *update {
		must(t, os.WriteFile(file, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if !bytes.Equal(want, b.Bytes()) {
		t.Errorf("%s differs; run go test with -update and look at what changed", file)
	}
}

func TestFolder_has_the_state_or_else_the_install_config(t *testing.T) {
	for withState, has := range map[bool]string{true: payload.StateKey, false: payload.ConfigKey} {
		files, err := Folder(inputs(t, withState, own))
		must(t, err)
		if len(files) != 2 || len(files[has]) == 0 || len(files["openshift/own.yaml"]) == 0 {
			t.Errorf("it has %d files, without %s", len(files), has)
		}
	}
}

func TestRender_divides_a_large_folder_and_mounts_it_as_it_was(t *testing.T) {
	files := map[string][]byte{}
	for _, name := range []string{"manifests/a.yaml", "manifests/b.yaml", "openshift/a.yaml", payload.ConfigKey} {
		files[name] = bytes.Repeat([]byte(name), (400<<10)/len(name))
	}
	made, err := Render(request(files))
	must(t, err)
	mounted := map[string][]byte{}
	for i, source := range made.Job.Spec.Template.Spec.Volumes[0].Projected.Sources {
		if source.Secret.Name != made.Assets[i].Name {
			t.Errorf("it mounts %s, want %s", source.Secret.Name, made.Assets[i].Name)
		}
		for _, item := range source.Secret.Items {
			mounted[item.Path] = made.Assets[i].Data[item.Key]
		}
	}
	if len(made.Assets) != 2 || !reflect.DeepEqual(mounted, files) {
		t.Errorf("%d Secrets hold %d files", len(made.Assets), len(mounted))
	}
	files["manifests/huge.yaml"] = make([]byte, secretMost+1)
	_, err = Render(request(files))
	if large, is := errors.AsType[LargeFileError](err); !is || large.Path != "manifests/huge.yaml" || !large.Terminal() || !strings.Contains(err.Error(), "split the manifests") {
		t.Errorf("it says %v", err)
	}
}

func TestJobName_is_another_one_for_other_inputs_and_images(t *testing.T) {
	r := request(nil)
	was := r.JobName()
	for name, change := range map[string]func(*Request){
		"digest": func(r *Request) { r.Digest = "4567" }, "release": func(r *Request) { r.ReleaseImage += "0" },
		"installer": func(r *Request) { r.InstallerImage += "0" }, "object": func(r *Request) { r.Name = strings.Repeat("a", 200) + "." },
	} {
		r := request(nil)
		change(&r)
		now := r.JobName()
		if now == was || len(validation.IsDNS1123Label(now+"-assets-99")) > 0 && name != "object" || len(now+"-assets-99") > 63 {
			t.Errorf("with another %s it is %s", name, now)
		}
		if !IsJobName(r.Name, now) {
			t.Errorf("with another %s it is not known as a Job's: %s", name, now)
		}
	}
	for _, other := range []string{"", "a", r.Name + "-ca", r.Name + "-kubeconfig", r.Name + "-ignition-keys", r.Name + "-ignition-master", was + "0", was + "-assets-0", was[:len(was)-2], "b" + was} {
		if IsJobName(r.Name, other) {
			t.Errorf("%q is taken for the name of a Job", other)
		}
	}
	if again := r.JobName(); again != was {
		t.Errorf("it is %s, and again %s", was, again)
	}
}

func TestRender_gives_the_installer_no_token_and_collect_one_Secret(t *testing.T) {
	made, err := Render(request(map[string][]byte{payload.ConfigKey: []byte("x")}))
	must(t, err)
	pod := made.Job.Spec.Template.Spec
	for _, mount := range pod.Containers[0].VolumeMounts {
		if mount.Name == "token" {
			t.Error("the installer has a token")
		}
	}
	if *pod.AutomountServiceAccountToken || len(made.Role.Rules) != 1 || !reflect.DeepEqual(made.Role.Rules[0].ResourceNames, []string{made.Result.Name}) {
		t.Errorf("collect may do %+v", made.Role.Rules)
	}
	if *made.Job.Spec.BackoffLimit != 2 {
		t.Errorf("there are %d attempts", *made.Job.Spec.BackoffLimit+1)
	}
}

func TestStateOf_reads_what_a_Job_has_come_to(t *testing.T) {
	condition := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) []batchv1.JobCondition {
		return []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse}, {Type: kind, Status: status, Reason: "BackoffLimitExceeded"}}
	}
	for want, conditions := range map[State][]batchv1.JobCondition{
		Running: condition(batchv1.JobFailed, corev1.ConditionFalse), Complete: condition(batchv1.JobComplete, corev1.ConditionTrue), Failed: condition(batchv1.JobFailed, corev1.ConditionTrue),
	} {
		if got, why := StateOf(conditions); got != want || (why == "BackoffLimitExceeded") != (want == Failed) {
			t.Errorf("it is %s (%s), want %s", got, why, want)
		}
	}
}
