package openshiftconfig

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

func TestObserve_reads_a_payload_once_for_all_machines(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	first := w.look().Facts().Payload
	w.phases.Forget("fleet/a-0") // as a config of which nothing is known yet
	if again := w.look().Facts().Payload; again != first || w.secrets != 1 {
		t.Errorf("%d requests, and %+v", w.secrets, again)
	}
	if err := w.client.Update(t.Context(), made(v1alpha1.MasterRole, `{"ignition":{"version":"3.2.0"}}`)); err != nil {
		t.Fatal(err)
	}
	if other := w.look().Facts().Payload; other.Digest == first.Digest || w.secrets != 2 {
		t.Errorf("%d requests, and of another version %+v", w.secrets, other)
	}
	if err := w.client.Delete(t.Context(), made(v1alpha1.MasterRole, pointer)); err != nil {
		t.Fatal(err)
	}
	if gone := w.look().Facts().Payload; gone.There {
		t.Errorf("one that is gone is %+v", gone)
	}
}

func TestPublishData_reads_what_it_has_created_no_more_if_that_is_right(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := w.look().Facts(); !f.Secret.Right || w.secrets != 1 {
		t.Errorf("after %d requests it is %+v", w.secrets, f.Secret)
	}
}

func TestPublishData_reads_what_somebody_changes_while_it_is_created(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	w.phases.Client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if secret, is := o.(*corev1.Secret); is {
				secret.Data["value"] = []byte("x")
			}
			return c.Create(ctx, o, options...)
		},
	})
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := w.look().Facts(); f.Secret.Right || !f.Secret.There {
		t.Errorf("an altered Secret is %+v", f.Secret)
	}
}

func TestPublishData_is_not_led_astray_by_a_cache_that_is_behind(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	behind := interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			if _, is := o.(*metav1.PartialObjectMetadata); is && key.Name == "a-0" {
				return apierrors.NewNotFound(corev1.Resource("secrets"), key.Name)
			}
			return c.Get(ctx, key, o, options...)
		},
	})
	for name, phases := range map[string]*Phases{
		"of whoever created it": {Client: behind, Live: w.phases.Live, known: w.phases.known}, "of another process": {Client: behind, Live: w.phases.Live},
	} {
		w.phases = phases
		for range 2 {
			if result, err := w.look().PublishData(t.Context()); err != nil || result.Did != "" {
				t.Errorf("%s: it did %q (%v)", name, result.Did, err)
			}
		}
		if f := w.look().Facts(); !f.Secret.Right {
			t.Errorf("%s: it is %+v", name, f.Secret)
		}
	}
}
