package guest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Annotations of a DevCluster.
const (
	// HoldAnnotation names steps that are not to be taken yet, with commas between.
	HoldAnnotation = "devinfra.example.com/hold"
	// ReleaseAnnotation is the version of OpenShift that the guest says it has, and after a blank its image; DefaultRelease without it.
	ReleaseAnnotation = "devinfra.example.com/release"
	DefaultRelease    = "4.22.0"
	// IDAnnotation names a Secret beside the DevCluster: what is noted there as the ID of the cluster is what the guest's ClusterVersion
	// says, as of one that was made by that payload. Without it the guest does not say which cluster it is.
	IDAnnotation = "devinfra.example.com/id-of"
)

// Steps that can be held.
const (
	// StepAPI is the endpoint, which is closed again when it is held later.
	StepAPI = "api"
	// StepComplete is that the bootstrap machine tells its end, once each master has a Node.
	StepComplete = "complete"
	// StepEtcd is that etcd has let the bootstrap's member go, and StepOperators that the operators have settled: both after it.
	StepEtcd      = "etcd"
	StepOperators = "operators"
	// StepMembers is that etcd lets the member go whose Node is cordoned.
	StepMembers = "members"
	// StepUpgrade is that the version that is asked for becomes the one that is there.
	StepUpgrade = "upgrade"
)

// What a guest can lack, for as long as it is named among the steps that are held: NoCredentials is one that takes nobody's certificate,
// NoKinds one that does not serve the groups of OpenShift, and NoHaste one that lets everybody wait for each answer.
const (
	NoCredentials = "credentials"
	NoKinds       = "kinds"
	NoHaste       = "haste"
)

// BootstrapSuffix is what the name of a bootstrap machine ends in. It gets a Node, which a real one does not, since every machine of the
// dev provider does.
const BootstrapSuffix = "-bootstrap"

var (
	clusterVersions  = config.WithResource("clusterversions")
	clusterOperators = config.WithResource("clusteroperators")
	infrastructures  = config.WithResource("infrastructures")
	etcds            = operator.WithResource("etcds")
)

// operators are some of those that each cluster has.
var operators = []string{"authentication", "etcd", "kube-apiserver", "network"}

// script plays a guest's part. Each step is taken once: what somebody changes afterwards stays.
type script struct {
	objects *objects
	memory  inmemoryruntime.Client
	taken   map[string]bool
	// id is the ID of the cluster, empty for one that tells none.
	id func(context.Context) (string, error)

	// said and listed are what is told of etcd's members, and addresses is how many were given.
	said      string
	listed    map[string]string
	addresses int
}

// play takes what steps can be taken. The masters are the control-plane machines but the bootstrap.
func (s *script) play(ctx context.Context, held []string, release string, masters []string) error {
	if err := s.nameLeader(ctx); err != nil {
		return err
	}
	if err := s.once("begin", func() error { return s.begin(ctx, release) }); err != nil {
		return err
	}
	up, err := s.haveNodes(ctx, masters)
	if err != nil {
		return err
	}
	steps := []struct {
		name string
		take func() error
	}{
		{StepComplete, func() error { return s.complete(ctx) }},
		{StepEtcd, s.letGo},
		{StepOperators, func() error { return s.settle(release) }},
	}
	for _, step := range steps {
		ready := up && step.name == StepComplete || s.taken[StepComplete]
		if !ready || slices.Contains(held, step.name) {
			continue
		}
		if err := s.once(step.name, step.take); err != nil {
			return fmt.Errorf("taking the step %s: %w", step.name, err)
		}
	}
	if s.taken[StepComplete] {
		if err := s.members(ctx, held, masters); err != nil {
			return err
		}
	}
	if s.taken[StepOperators] && !slices.Contains(held, StepUpgrade) {
		return s.upgrade()
	}
	return nil
}

func (s *script) once(name string, take func() error) error {
	if s.taken[name] {
		return nil
	}
	err := take()
	s.taken[name] = err == nil
	return err
}

// nameLeader has etcd members agree on a leader when the one that they had is gone with its machine: the fake etcd does not, and takes
// in no new member then.
func (s *script) nameLeader(ctx context.Context) error {
	pods := &corev1.PodList{}
	if err := s.memory.List(ctx, pods, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "etcd"}); err != nil {
		return fmt.Errorf("listing etcd members: %w", err)
	}
	leads := func(p corev1.Pod) bool { return p.Annotations[cloudv1.EtcdLeaderFromAnnotationName] != "" }
	if len(pods.Items) == 0 || slices.ContainsFunc(pods.Items, leads) {
		return nil
	}
	next := pods.Items[0].DeepCopy()
	if next.Annotations == nil {
		next.Annotations = map[string]string{}
	}
	next.Annotations[cloudv1.EtcdLeaderFromAnnotationName] = time.Now().Format(time.RFC3339)
	return s.memory.Update(ctx, next)
}

// begin is what a cluster has whose API server has just come up.
func (s *script) begin(ctx context.Context, release string) error {
	id, err := s.id(ctx)
	if err != nil {
		return err
	}
	version := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "version"}, "spec": map[string]any{"clusterID": id}}}
	if _, err := s.objects.put(clusterVersions, version); err != nil {
		return err
	}
	first := versioned(release, false)
	for of, named := range map[schema.GroupVersionResource]map[string]map[string]any{
		clusterVersions: {"version": first},
		infrastructures: {"cluster": {"platform": "None", "controlPlaneTopology": "HighlyAvailable"}},
		etcds:           {"cluster": {"conditions": []any{condition("EtcdBootstrapMemberRemoved", "False")}}},
	} {
		for name, status := range named {
			if err := s.tell(of, name, status); err != nil {
				return err
			}
		}
	}
	for _, name := range operators {
		if err := s.tell(clusterOperators, name, map[string]any{"conditions": standing(false)}); err != nil {
			return err
		}
	}
	return nil
}

// haveNodes says whether there are masters, each with a Node.
func (s *script) haveNodes(ctx context.Context, masters []string) (bool, error) {
	for _, name := range masters {
		// One by one: a list cannot be read once somebody has patched a Node, which is kept without its type then.
		if err := s.memory.Get(ctx, client.ObjectKey{Name: name}, &corev1.Node{}); apierrors.IsNotFound(err) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("reading Node %s: %w", name, err)
		}
	}
	return len(masters) > 0, nil
}

func (s *script) complete(ctx context.Context) error {
	done := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "bootstrap"}, Data: map[string]string{"status": "complete"},
	}
	if err := s.memory.Create(ctx, done); !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func (s *script) letGo() error {
	s.taken[StepEtcd] = true
	return s.tellEtcd()
}

// settle has all operators, and the cluster, have a release.
func (s *script) settle(release string) error {
	version, _, _ := strings.Cut(release, " ")
	for _, name := range operators {
		status := map[string]any{"conditions": standing(true), "versions": []any{map[string]any{"name": "operator", "version": version}}}
		if err := s.tell(clusterOperators, name, status); err != nil {
			return err
		}
	}
	return s.tell(clusterVersions, "version", versioned(release, true))
}

// upgrade has the version that is asked for take the place of the one that is there. Without one, the image's tag is taken for it.
func (s *script) upgrade() error {
	version, err := s.objects.get(clusterVersions, "version")
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	asked, _, _ := unstructured.NestedStringMap(version.Object, "spec", "desiredUpdate")
	has, _, _ := unstructured.NestedString(version.Object, "status", "desired", "version")
	release := asked["version"]
	if release == "" {
		_, release, _ = strings.Cut(asked["image"], ":")
	}
	if release == "" || release == has {
		return nil
	}
	return s.settle(strings.TrimSpace(release + " " + asked["image"]))
}

// tell sets the status of an object, which is made if need be.
func (s *script) tell(of schema.GroupVersionResource, name string, status map[string]any) error {
	object, err := s.objects.get(of, name)
	if apierrors.IsNotFound(err) {
		object = &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{}}}
	} else if err != nil {
		return err
	}
	object.Object["status"] = status
	_, err = s.objects.put(of, object)
	return err
}

// standing are the conditions of what has settled, or has not.
func standing(settled bool) []any {
	if settled {
		return []any{condition("Available", "True"), condition("Progressing", "False"), condition("Degraded", "False"), condition("Failing", "False")}
	}
	return []any{condition("Available", "False"), condition("Progressing", "True"), condition("Degraded", "False"), condition("Failing", "False")}
}

func condition(of, status string) map[string]any {
	return map[string]any{"type": of, "status": status, "reason": "Simulated", "message": "", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}

// versioned is the status of a ClusterVersion that has come to a release, or is on its way to it.
func versioned(release string, there bool) map[string]any {
	version, image, _ := strings.Cut(release, " ")
	now := time.Now().UTC().Format(time.RFC3339)
	last := map[string]any{"version": version, "image": image, "state": "Partial", "startedTime": now, "completionTime": nil, "verified": false}
	if there {
		last["state"], last["completionTime"] = "Completed", now
	}
	return map[string]any{
		"desired": map[string]any{"version": version, "image": image}, "conditions": standing(there), "history": []any{last},
		"observedGeneration": int64(1), "versionHash": "", "availableUpdates": nil,
	}
}
