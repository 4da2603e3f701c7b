package clusterapi

import (
	"testing"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/status"
)

// retried notes that another attempt was asked for.
type retried struct {
	images.Source
	asked bool
}

func (r *retried) Retry() { r.asked = true }

func TestUnneeded_is_believed_of_the_same_release_and_architecture_only(t *testing.T) {
	ref := images.Ref("registry.example.com/other@" + digest)
	of := func(release string) *Phases { return &Phases{Release: release, name: "clusterapi"} }
	for name, row := range map[string]struct {
		by   string
		want bool
	}{
		"the same":             {of("4.22.5").imagesBy(), true},
		"another release":      {of("4.22.4").imagesBy(), false},
		"another architecture": {"4.22.5 s390", false},
		"nobody knows who":     {"", false},
	} {
		detail := Detail{ImagesBy: row.by, Images: imageDetails([]guards.ImageState{{Reference: string(ref), NotNeeded: true, Platform: "AWS"}})}
		raw := append([]byte(`{"`+status.DetailKey("clusterapi")+`":`), detail.encode()...)
		scheme := runtime.NewScheme()
		if err := configv1.Install(scheme); err != nil {
			t.Fatal(err)
		}
		p := of("4.22.5")
		p.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(&configv1.ClusterOperator{
			ObjectMeta: metav1.ObjectMeta{Name: ClusterOperatorName},
			Status:     configv1.ClusterOperatorStatus{Extension: runtime.RawExtension{Raw: append(raw, '}')}},
		}).Build()
		if err := p.recallUnneeded(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := p.memory.unneeded.by("AWS", ref); got != row.want {
			t.Errorf("%s: it is taken for not needed: %v", name, got)
		}
	}
}

func TestUnneeded_is_forgotten_when_another_attempt_is_asked_for(t *testing.T) {
	ref := images.Ref("registry.example.com/other@" + digest)
	source := &retried{}
	p := &Phases{Images: source}
	p.memory.unneeded = unneeded{ref: ""}
	p.retryImages(world{retry: "one"})
	if !p.memory.unneeded.by("AWS", ref) || source.asked {
		t.Error("what was asked for before the start counts as another attempt")
	}
	p.retryImages(world{retry: "two"})
	if p.memory.unneeded == nil || p.memory.unneeded.by("AWS", ref) || !source.asked {
		t.Errorf("the image is not looked into again: %v", p.memory.unneeded)
	}
}
