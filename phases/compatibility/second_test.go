package compatibility

import (
	"context"
	"maps"
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// scaled is a cluster of several nodes to which a release has brought the checker's Deployment.
type scaled struct {
	*Phases
	client         client.WithWatch
	infrastructure *configv1.Infrastructure
	first          *appsv1.Deployment
}

func scaledByRelease(t *testing.T) *scaled {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{configv1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	s := &scaled{
		infrastructure: &configv1.Infrastructure{
			ObjectMeta: metav1.ObjectMeta{Name: cluster}, Status: configv1.InfrastructureStatus{ControlPlaneTopology: configv1.HighlyAvailableTopologyMode},
		},
		first: &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "ours", Name: Service, UID: "first", Annotations: map[string]string{"include.release.openshift.io/self-managed-high-availability": "true"},
			},
			Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "checker"}},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "checker"}},
					Spec:       corev1.PodSpec{ServiceAccountName: Service, Containers: []corev1.Container{{Name: "checker", Image: "one"}}},
				},
			},
		},
	}
	s.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(s.infrastructure, s.first).Build()
	s.Phases = &Phases{Client: s.client, Namespace: "ours"}
	return s
}

// scale scales, and says what second Deployment there is; nil for none.
func (s *scaled) scale(t *testing.T) *appsv1.Deployment {
	t.Helper()
	if err := s.Scale(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := &appsv1.Deployment{}
	switch err := s.Client.Get(t.Context(), client.ObjectKey{Namespace: "ours", Name: Second}, second); {
	case client.IgnoreNotFound(err) != nil:
		t.Fatal(err)
	case err != nil:
		return nil
	}
	return second
}

func (s *scaled) update(t *testing.T, o client.Object) {
	t.Helper()
	if err := s.Client.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func TestSecond_is_a_replica_more_of_the_pods_that_the_release_brings(t *testing.T) {
	s := scaledByRelease(t)
	second := s.scale(t)
	if second == nil {
		t.Fatal("there is none")
	}
	if owners := second.OwnerReferences; len(owners) != 1 || owners[0].UID != "first" || *second.Spec.Replicas != 1 {
		t.Errorf("it has %d replicas and is of %+v", *second.Spec.Replicas, owners)
	}
	own, of := second.Spec.Selector.MatchLabels, second.Spec.Template.Labels
	if labels.SelectorFromSet(own).Matches(labels.Set(s.first.Spec.Template.Labels)) || !labels.SelectorFromSet(own).Matches(labels.Set(of)) {
		t.Errorf("it selects by %v pods with %v", own, of)
	}
	budget := &policyv1.PodDisruptionBudget{}
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(s.first), budget); err != nil {
		t.Fatal(err)
	}
	for name, pods := range map[string]map[string]string{"first": s.first.Spec.Template.Labels, "second": of} {
		if !labels.SelectorFromSet(budget.Spec.Selector.MatchLabels).Matches(labels.Set(pods)) {
			t.Errorf("the budget is not for pods of the %s Deployment", name)
		}
	}
	if image := second.Spec.Template.Spec.Containers[0].Image; image != "one" {
		t.Errorf("it runs %s", image)
	}
}

func TestSecond_follows_the_first_and_what_is_edited_is_put_right(t *testing.T) {
	s := scaledByRelease(t)
	before := s.scale(t)
	if again := s.scale(t); again.ResourceVersion != before.ResourceVersion {
		t.Error("it was written though nothing was to be")
	}
	s.first.Spec.Template.Spec.Containers[0].Image = "two"
	s.update(t, s.first)
	if image := s.scale(t).Spec.Template.Spec.Containers[0].Image; image != "two" {
		t.Errorf("it runs %s", image)
	}
	edited := s.scale(t)
	edited.Spec.Replicas = ptr.To[int32](5)
	s.update(t, edited)
	if replicas := *s.scale(t).Spec.Replicas; replicas != 1 {
		t.Errorf("it has %d replicas", replicas)
	}
	edited = s.scale(t)
	edited.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "other"}}
	s.update(t, edited)
	if second := s.scale(t); second != nil {
		t.Errorf("one that selects by %v stays", second.Spec.Selector.MatchLabels)
	}
	if s.scale(t) == nil {
		t.Error("it is not made anew")
	}
}

func TestSecond_goes_where_it_is_not_needed(t *testing.T) {
	for name, change := range map[string]func(*scaled) client.Object{
		"the control plane is one node": func(s *scaled) client.Object {
			s.infrastructure.Status.ControlPlaneTopology = configv1.SingleReplicaTopologyMode
			return s.infrastructure
		},
		"somebody scales the first to two": func(s *scaled) client.Object { s.first.Spec.Replicas = ptr.To[int32](2); return s.first },
		"somebody scales the first to none": func(s *scaled) client.Object {
			s.first.Spec.Replicas = ptr.To[int32](0)
			return s.first
		},
		"the first is being deleted": func(s *scaled) client.Object {
			s.first.Finalizers = []string{metav1.FinalizerDeleteDependents}
			s.update(t, s.first)
			if err := s.Client.Delete(t.Context(), s.first); err != nil {
				t.Fatal(err)
			}
			return s.infrastructure
		},
		"no release brings the first any more": func(s *scaled) client.Object { s.first.Annotations = nil; return s.first },
	} {
		t.Run(name, func(t *testing.T) {
			s := scaledByRelease(t)
			if s.scale(t) == nil {
				t.Fatal("there is none")
			}
			s.update(t, change(s))
			if s.scale(t) != nil {
				t.Error("it is there")
			}
		})
	}
}

func TestSecond_is_not_counted_on_where_there_is_none(t *testing.T) {
	for name, fail := range map[string]func(*scaled){
		"somebody else's has its name": func(s *scaled) {
			theirs := s.first.DeepCopy()
			theirs.ObjectMeta = metav1.ObjectMeta{Namespace: "ours", Name: Second}
			if err := s.Client.Create(t.Context(), theirs); err != nil {
				t.Fatal(err)
			}
		},
		"it is refused": func(s *scaled) {
			s.Client = interceptor.NewClient(s.client, interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
					if o.GetName() == Second {
						return apierrors.NewForbidden(appsv1.Resource("deployments"), Second, nil)
					}
					return c.Create(ctx, o, options...)
				},
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := scaledByRelease(t)
			fail(s)
			_ = s.Scale(t.Context()) // whatever it says of the second one
			err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(s.first), &policyv1.PodDisruptionBudget{})
			if !apierrors.IsNotFound(err) {
				t.Errorf("a budget keeps the node of the only replica from being drained (%v)", err)
			}
		})
	}
}

func TestSecond_leaves_alone_what_somebody_else_has_made(t *testing.T) {
	s := scaledByRelease(t)
	theirs := s.first.DeepCopy()
	theirs.ObjectMeta = metav1.ObjectMeta{Namespace: "ours", Name: Second, Labels: maps.Clone(s.first.Spec.Template.Labels)}
	if err := s.Client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	if found := s.scale(t); found.ResourceVersion != theirs.ResourceVersion {
		t.Error("it was written")
	}
	s.infrastructure.Status.ControlPlaneTopology = configv1.SingleReplicaTopologyMode
	s.update(t, s.infrastructure)
	if s.scale(t) == nil {
		t.Error("it was deleted")
	}
}
