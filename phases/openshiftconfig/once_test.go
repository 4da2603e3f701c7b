package openshiftconfig

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

// What is read once, and what must not be taken for it.

// behind is a client whose cache has an object of metadata as it was.
func (w *world) behind(name string, was *metav1.PartialObjectMetadata) client.Client {
	return interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			into, is := o.(*metav1.PartialObjectMetadata)
			switch {
			case !is || key.Name != name:
				return c.Get(ctx, key, o, options...)
			case was == nil:
				return apierrors.NewNotFound(corev1.Resource("secrets"), name)
			}
			was.DeepCopyInto(into)
			return nil
		},
	})
}

func TestPublishData_reads_a_payload_once_for_a_machine(t *testing.T) {
	w := newWorld(t, in(`{"state":"AwaitingPayload"}`), made(v1alpha1.MasterRole, pointer))
	w.look()
	config := &v1alpha1.OpenShiftConfig{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a-0"}, config); err != nil {
		t.Fatal(err)
	}
	config.Status.Machine.Raw = []byte(`{"state":"Publishing"}`)
	if err := w.client.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if _, err := w.look().PublishData(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := w.look().Facts(); !f.Secret.Right || w.secrets != 1 {
		t.Errorf("after %d requests it is %+v", w.secrets, f.Secret)
	}
	if known := w.phases.remembered("fleet/a-0"); known.payload != nil {
		t.Error("a payload that nobody needs any more is kept")
	}
}

func TestPublishData_takes_no_payload_of_another_version(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	w.look()
	const other = `{"ignition":{"version":"3.2.0"}}`
	if err := w.client.Update(t.Context(), made(v1alpha1.MasterRole, other)); err != nil {
		t.Fatal(err)
	}
	p := w.look()
	if w.secrets != 2 {
		t.Fatalf("%d requests", w.secrets)
	}
	if _, err := p.PublishData(t.Context()); err != nil || string(w.stored().Data["value"]) != other {
		t.Errorf("it published %s (%v)", w.stored().Data["value"], err)
	}
}

func TestPublishData_gives_the_machine_of_a_new_attempt_nothing_of_the_former_one(t *testing.T) {
	former := made(v1alpha1.MasterRole, pointer)
	w := newWorld(t, same, former)
	w.look()
	was := &metav1.PartialObjectMetadata{}
	was.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(former), was); err != nil {
		t.Fatal(err)
	}
	// All of the attempt is made anew, under the same names, and the cache of Secrets does not know it yet.
	const other = `{"ignition":{"version":"3.2.0"}}`
	config := &v1alpha1.OpenShiftConfig{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a-0"}, config); err != nil {
		t.Fatal(err)
	}
	anew := config.DeepCopy()
	anew.UID, anew.ResourceVersion = "k2", ""
	for _, o := range []client.Object{config, former} {
		if err := w.client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range []client.Object{anew, made(v1alpha1.MasterRole, other)} {
		if err := w.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	w.phases.Client = w.behind(former.Name, was)
	if _, err := w.look().PublishData(t.Context()); err != nil || string(w.stored().Data["value"]) != other {
		t.Errorf("it published %s (%v)", w.stored().Data["value"], err)
	}
}

func TestObserve_keeps_no_payload_that_fits_into_no_Secret(t *testing.T) {
	large := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,` + strings.Repeat("a", 1<<20) + `"}}]}}`
	w := newWorld(t, same, made(v1alpha1.MasterRole, large))
	w.look()
	if known := w.phases.remembered("fleet/a-0"); known.payload != nil || known.digest == "" {
		t.Errorf("of digest %q it has kept %d bytes", known.digest, len(known.payload.config))
	}
}

func TestPublishData_reads_what_somebody_changes_while_it_is_created(t *testing.T) {
	w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
	w.phases.Client = interceptor.NewClient(w.behind("a-0", nil).(client.WithWatch), interceptor.Funcs{
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
	for name, row := range map[string]struct {
		// known is what the process knows that makes the passes; creations is how often it tries.
		known     func(*Phases) map[machine.Key]known
		creations int
	}{
		"of whoever created it": {func(p *Phases) map[machine.Key]known { return p.known }, 0},
		"of another process":    {func(*Phases) map[machine.Key]known { return nil }, 1},
	} {
		w := newWorld(t, same, made(v1alpha1.MasterRole, pointer))
		if _, err := w.look().PublishData(t.Context()); err != nil {
			t.Fatal(err)
		}
		creations := 0
		counting := interceptor.NewClient(w.behind("a-0", nil).(client.WithWatch), interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
				creations++
				return c.Create(ctx, o, options...)
			},
		})
		w.phases = &Phases{Client: counting, Live: w.phases.Live, known: row.known(w.phases)}
		for range 3 {
			if result, err := w.look().PublishData(t.Context()); err != nil || result.Did != "" {
				t.Errorf("%s: it did %q (%v)", name, result.Did, err)
			}
		}
		if f := w.look().Facts(); !f.Secret.Right || creations != row.creations {
			t.Errorf("%s: after %d creations it is %+v", name, creations, f.Secret)
		}
	}
}

func TestObserve_reads_a_Secret_in_the_way_of_what_cannot_be_published(t *testing.T) {
	others := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "fleet", Name: "a-0", UID: "o1"}}
	w := newWorld(t, same, made(v1alpha1.MasterRole, `{}`), others)
	w.phases.Client = w.behind("a-0", nil)
	if f := w.look().Facts(); f.Secret.Others != "o1" { // as in Failed, so that nothing changes between the two
		t.Errorf("it is %+v", f.Secret)
	}
}

func TestObserve_reads_of_a_Secret_that_is_anothers_nothing_but_whose_it_is(t *testing.T) {
	for name, owner := range map[string]func(*metav1.OwnerReference){
		"of another kind": func(o *metav1.OwnerReference) { o.Kind = "Machine" }, "of another name": func(o *metav1.OwnerReference) { o.Name = "b" },
	} {
		secret := made(v1alpha1.MasterRole, pointer)
		owner(&secret.OwnerReferences[0])
		w := newWorld(t, same, secret)
		one, err := readPayload(t.Context(), w.phases.Live, client.ObjectKeyFromObject(secret), "a")
		if err != nil || one.config != nil || one.owner == nil {
			t.Errorf("%s: it has read %d bytes (%v)", name, len(one.config), err)
		}
		if f := w.look().Facts().Payload; f.There || !strings.Contains(f.Missing, "has not made") {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
