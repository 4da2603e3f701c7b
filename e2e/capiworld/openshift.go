package capiworld

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/providers"
)

// InstallConfig is a small one for a cluster of a name, without a platform and without workers.
func InstallConfig(cluster string, replicas int) string {
	return fmt.Sprintf(`apiVersion: v1
baseDomain: example.com
metadata:
  name: %s
platform:
  none: {}
pullSecret: '{"auths":{"registry.example.com":{"auth":"cHVsbGVyOmh1bnRlcjI="}}}'
sshKey: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKOWetPonjwEaZSWQx9VY0qM5dGOhPgnXKw6Xl7vr4KN core@example
networking:
  machineNetwork:
  - cidr: 192.168.0.0/24
controlPlane:
  name: master
  replicas: %d
compute:
- name: worker
  replicas: 0
`, cluster, replicas)
}

// InstallSecret is the Secret with an install-config that the control plane of the cluster names.
func InstallSecret(key Key, config string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name + "-install"},
		StringData: map[string]string{"install-config.yaml": config},
	}
}

// MachineTemplate is one of machines in memory.
func MachineTemplate(key Key) *unstructured.Unstructured {
	return object(Infrastructure.WithKind("DevMachineTemplate"), key, map[string]any{
		"template": map[string]any{"spec": map[string]any{"backend": map[string]any{"inMemory": map[string]any{}}}},
	})
}

// ControlPlane asks for a control plane of so many machines, of a release, of the template of its name.
func ControlPlane(key Key, replicas int, release string) *unstructured.Unstructured {
	return object(OpenShift.WithKind("OpenShiftControlPlane"), key, map[string]any{
		"releaseImage": release, "replicas": int64(replicas),
		"machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": map[string]any{
			"apiGroup": Infrastructure.Group, "kind": "DevMachineTemplate", "name": key.Name,
		}}},
		"installStateSecretRef": map[string]any{"name": key.Name + "-install"},
	})
}

// Asked are all objects by which a cluster is asked for, whose guest holds some steps back.
type Asked struct {
	Key          Key
	Secret       *corev1.Secret
	DevCluster   *unstructured.Unstructured
	Template     *unstructured.Unstructured
	ControlPlane *unstructured.Unstructured
	Cluster      client.Object
}

// Ask makes the objects for a cluster, and creates none.
func (w *World) Ask(key Key, replicas int, release, held string) *Asked {
	dev := DevCluster(key, w.Endpoint(), held)
	return &Asked{
		Key: key, Secret: InstallSecret(key, InstallConfig(key.Name, replicas)), DevCluster: dev, Template: MachineTemplate(key),
		ControlPlane: ControlPlane(key, replicas, release), Cluster: Cluster(key, true),
	}
}

// Objects are those that are not nil, in an order in which nothing is missed.
func (a *Asked) Objects() []client.Object {
	all := []client.Object{a.Template, a.DevCluster, a.ControlPlane, a.Cluster}
	if a.Secret != nil {
		all = append([]client.Object{a.Secret}, all...)
	}
	return all
}

// releaseLabel is by which a release image tells its version.
const releaseLabel = "io.openshift.release"

// Release pushes an image that calls itself a release, and returns its reference by digest.
func (w *World) Release(ctx context.Context, version string) (string, error) {
	image, err := providers.Image(map[string][]byte{"release": []byte(version)})
	if err != nil {
		return "", fmt.Errorf("making release %s: %w", version, err)
	}
	if image, err = mutate.Config(image, v1.Config{Labels: map[string]string{releaseLabel: version}}); err != nil {
		return "", fmt.Errorf("labelling release %s: %w", version, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return "", fmt.Errorf("computing the digest of release %s: %w", version, err)
	}
	reference, err := name.NewDigest(w.Registry.Host() + "/release@" + digest.String())
	if err != nil {
		return "", fmt.Errorf("naming release %s: %w", version, err)
	}
	if err := remote.Write(reference, image, remote.WithContext(ctx)); err != nil {
		return "", fmt.Errorf("pushing release %s: %w", version, err)
	}
	return reference.String(), nil
}

// Standing is where an OpenShiftControlPlane stands.
type Standing struct {
	State, Waits, Failure string
	Conditions            []metav1.Condition
	Object                *unstructured.Unstructured
}

// Standing reads where the control plane of a cluster stands.
func (w *World) Standing(ctx context.Context, key Key) (Standing, error) {
	s := Standing{Object: object(OpenShift.WithKind("OpenShiftControlPlane"), key, nil)}
	if err := w.API.Get(ctx, key, s.Object); err != nil {
		return s, fmt.Errorf("reading OpenShiftControlPlane %s: %w", key, err)
	}
	return standing(s.Object), nil
}

func standing(of *unstructured.Unstructured) Standing {
	text := func(path ...string) string {
		found, _, _ := unstructured.NestedString(of.Object, append([]string{"status"}, path...)...)
		return found
	}
	return Standing{
		State: text("state"), Waits: text("waits"), Failure: text("lastFailure", "message"), Conditions: Conditions(of), Object: of,
	}
}

// Is is nil if the control plane is in a state.
func (s Standing) Is(state string) error {
	if s.State == state {
		return nil
	}
	return fmt.Errorf("it is in state %q: %s; its work meets: %s", s.State, s.Waits, s.Failure)
}

// WaitsFor is nil if what the control plane waits for names something.
func (s Standing) WaitsFor(names string) error {
	if strings.Contains(s.Waits, names) {
		return nil
	}
	return fmt.Errorf("it is in state %q and waits for %s", s.State, s.Waits)
}

// Says is nil if the control plane has a condition of a status, whose reason or message names something.
func (s Standing) Says(kind string, status metav1.ConditionStatus, names string) error {
	for _, c := range s.Conditions {
		if c.Type == kind && c.Status == status && strings.Contains(c.Reason+" "+c.Message, names) {
			return nil
		}
		if c.Type == kind {
			return fmt.Errorf("it says %s=%s: %s: %s", kind, c.Status, c.Reason, c.Message)
		}
	}
	return fmt.Errorf("it says nothing of %s; it is in state %q: %s", kind, s.State, s.Waits)
}

// Conditions are those of an object's status.
func Conditions(o *unstructured.Unstructured) []metav1.Condition {
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var found []metav1.Condition
	for _, item := range all {
		fields, _ := item.(map[string]any)
		text := func(name string) string { value, _ := fields[name].(string); return value }
		found = append(found, metav1.Condition{
			Type: text("type"), Status: metav1.ConditionStatus(text("status")), Reason: text("reason"), Message: text("message"),
		})
	}
	return found
}
