package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// LogFile is what the installer has printed, in the working folder.
	LogFile = ".capstan-log"
	// ExitFile is there once the installer has ended, and holds its exit code.
	ExitFile = ".capstan-exit"

	workFolder   = "/work"
	assetsFolder = "/assets"
	tokenFolder  = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// script runs the installer on a copy of the folder, since it writes into it. Manifests that people give come after its own.
const script = `set -o pipefail
run() {
  set -e
  cd ` + workFolder + `
  for file in .openshift_install_state.json install-config.yaml; do
    if [ -e ` + assetsFolder + `/$file ]; then cp -L ` + assetsFolder + `/$file .; fi
  done
  openshift-install create manifests --dir .
  for folder in manifests openshift; do
    if [ -d ` + assetsFolder + `/$folder ]; then mkdir -p $folder; cp -rL ` + assetsFolder + `/$folder/. $folder/; fi
  done
  openshift-install create ignition-configs --dir .
}
(run) 2>&1 | tee /tmp/log
code=$?
cp /tmp/log ` + workFolder + `/` + LogFile + `
echo $code > ` + workFolder + `/` + ExitFile + `
exit $code
`

func (r Request) pod(name string, assets []corev1.VolumeProjection) corev1.PodSpec {
	mount := func(name, at string, readOnly bool) corev1.VolumeMount {
		return corev1.VolumeMount{Name: name, MountPath: at, ReadOnly: readOnly}
	}
	confined := &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
	asks := corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi"),
	}}
	return corev1.PodSpec{
		ServiceAccountName:           name,
		AutomountServiceAccountToken: new(false),
		RestartPolicy:                corev1.RestartPolicyNever,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{
			{
				Name: "installer", Image: r.InstallerImage, Command: []string{"/bin/bash", "-c", script}, SecurityContext: confined, Resources: asks,
				Env: []corev1.EnvVar{
					{Name: "HOME", Value: "/tmp"},
					{Name: "OPENSHIFT_INSTALL_INVOKER", Value: "capstan"},
					{Name: "OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE", Value: r.ReleaseImage},
				},
				VolumeMounts: []corev1.VolumeMount{mount("assets", assetsFolder, true), mount("work", workFolder, false), mount("tmp", "/tmp", false)},
			},
			{
				Name: "collect", Image: r.CollectImage, SecurityContext: confined, Resources: asks,
				Args:         []string{"collect", "--work=" + workFolder, "--assets=" + assetsFolder, "--namespace=" + r.Namespace, "--secret=" + name},
				VolumeMounts: []corev1.VolumeMount{mount("assets", assetsFolder, true), mount("work", workFolder, true), mount("token", tokenFolder, true)},
			},
		},
		Volumes: []corev1.Volume{
			{Name: "assets", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: assets}}},
			{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "token", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: token()}}},
		},
	}
}

// token is what a client in a pod looks for, for the one container that needs it.
func token() []corev1.VolumeProjection {
	return []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3600))}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
		}}},
	}
}

// State is how far a Job has come.
type State string

const (
	// Running Jobs have attempts left, or one under way.
	Running State = "Running"
	// Complete Jobs have written their Secret.
	Complete State = "Complete"
	// Failed Jobs are not tried again.
	Failed State = "Failed"
)

// StateOf reads the conditions of a Job's status, and why it failed if it did.
func StateOf(conditions []batchv1.JobCondition) (state State, why string) {
	for _, condition := range conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			return Complete, ""
		case batchv1.JobFailed:
			return Failed, condition.Reason
		}
	}
	return Running, ""
}
