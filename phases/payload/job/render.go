package job

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// Attempts is how often the installer is tried.
	Attempts = 3

	// nameMost is how long the name of a Job may be, since it becomes a label of its pods.
	nameMost = 63
	// hashBytes are how many of a digest are in it, each as two digits.
	hashBytes = 5
)

// Request is what a Job is made for.
type Request struct {
	// Namespace and Name are those of the OpenShiftControlPlane, and Owner the reference to it that everything here has.
	Namespace, Name string
	Owner           metav1.OwnerReference
	// Labels are set on each object.
	Labels map[string]string
	// Digest is that of the inputs.
	Digest string
	// ReleaseImage is what the installer is told to install, InstallerImage its own, CollectImage that of this program.
	ReleaseImage, InstallerImage, CollectImage string
	// Files are those that Folder returns.
	Files map[string][]byte
	// Seconds is how long all attempts together may take.
	Seconds int64
}

// Objects are to be applied in this order.
type Objects struct {
	// Assets hold the files, and Result what collect writes. Their data is not to be applied again once Result has some.
	Assets         []*corev1.Secret
	Result         *corev1.Secret
	ServiceAccount *corev1.ServiceAccount
	Role           *rbacv1.Role
	RoleBinding    *rbacv1.RoleBinding
	Job            *batchv1.Job
}

// JobName is that of the Job, and of everything that belongs to it: the same for the same inputs and images.
func (r Request) JobName() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{r.Name, r.Digest, r.ReleaseImage, r.InstallerImage}, "\n")))
	return prefix(r.Name) + hex.EncodeToString(sum[:hashBytes])
}

// IsJobName says that a name is that of a Job of an OpenShiftControlPlane, of whatever inputs and images.
func IsJobName(controlPlane, name string) bool {
	hash, is := strings.CutPrefix(name, prefix(controlPlane))
	sum, err := hex.DecodeString(hash)
	return is && err == nil && len(sum) == hashBytes && hash == strings.ToLower(hash)
}

// prefix is what the names of all Jobs of an OpenShiftControlPlane begin with.
func prefix(controlPlane string) string {
	const kind = "-ignition-"
	room := nameMost - len(kind) - hex.EncodedLen(hashBytes) - len("-assets-99")
	return strings.TrimRight(controlPlane[:min(len(controlPlane), room)], "-.") + kind
}

// Render returns the objects, or a LargeFileError.
func Render(r Request) (Objects, error) {
	name := r.JobName()
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: r.Namespace, Name: name, Labels: maps.Clone(r.Labels), OwnerReferences: []metav1.OwnerReference{r.Owner}}
	}
	parts, err := packs(r.Files)
	if err != nil {
		return Objects{}, err
	}
	var made Objects
	var sources []corev1.VolumeProjection
	for i, part := range parts {
		secret := &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: meta(fmt.Sprintf("%s-assets-%d", name, i)),
			Type:       corev1.SecretTypeOpaque,
			Data:       part.data,
		}
		made.Assets = append(made.Assets, secret)
		sources = append(sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret.Name}, Items: part.items,
		}})
	}
	made.Result = &corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta(name), Type: corev1.SecretTypeOpaque}
	made.ServiceAccount = &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: meta(name)}
	// Creating cannot be allowed by name, so the Secret is there before.
	made.Role = &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: meta(name),
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{name}, Verbs: []string{"get", "update"}}},
	}
	made.RoleBinding = &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: meta(name),
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: r.Namespace, Name: name}},
	}
	made.Job = &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: meta(name),
		Spec: batchv1.JobSpec{
			BackoffLimit:          new(int32(Attempts - 1)),
			ActiveDeadlineSeconds: new(r.Seconds),
			// Two installers at once would write one Secret.
			PodReplacementPolicy: new(batchv1.Failed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(r.Labels)}, Spec: r.pod(name, sources)},
		},
	}
	return made, nil
}
