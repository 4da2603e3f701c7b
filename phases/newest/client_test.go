package newest

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var key = client.ObjectKey{Namespace: "ns", Name: "a"}

// late is a client whose cache shows what it is told to, with the server behind it.
type late struct {
	*Client
	server client.WithWatch
	// shows is what the cache has, nil for nothing; asked counts what the server was asked.
	shows *corev1.ConfigMap
	asked int
	took  []string
}

func newLate(t *testing.T) *late {
	t.Helper()
	l := &late{}
	l.server = fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).Build()
	cached := interceptor.NewClient(l.server, interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
		if l.shows == nil {
			return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
		}
		l.shows.DeepCopyInto(object.(*corev1.ConfigMap))
		return nil
	}})
	live := interceptor.NewClient(l.server, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, o ...client.GetOption) error {
		l.asked++
		return c.Get(ctx, key, object, o...)
	}})
	l.Client = &Client{
		Client: cached, Live: live,
		Of:   func(o client.Object) bool { _, is := o.(*corev1.ConfigMap); return is },
		Took: func(o client.Object, before string) { l.took = append(l.took, before+" "+o.GetResourceVersion()) },
	}
	return l
}

func TestClient_asks_the_server_while_the_cache_is_behind_an_own_write(t *testing.T) {
	l := newLate(t)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u"}}
	if err := l.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	got := &corev1.ConfigMap{}
	if err := l.Get(t.Context(), key, got); err != nil || got.UID != "u" || l.asked != 1 {
		t.Fatalf("of what the cache does not show yet there is %+v (%v), after %d questions", got.ObjectMeta, err, l.asked)
	}
	l.shows = made.DeepCopy()
	before := made.ResourceVersion
	if err := l.Patch(t.Context(), made, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"b"}}`))); err != nil {
		t.Fatal(err)
	}
	if len(l.took) != 1 || l.took[0] != before+" "+made.ResourceVersion {
		t.Errorf("told was %q", l.took)
	}
	if err := l.Get(t.Context(), key, got); err != nil || got.Data["a"] != "b" || l.asked != 2 {
		t.Errorf("got %v (%v), after %d questions", got.Data, err, l.asked)
	}
	l.shows = made.DeepCopy()
	for range 2 {
		if err := l.Get(t.Context(), key, got); err != nil || got.Data["a"] != "b" || l.asked != 2 {
			t.Errorf("once the cache shows it there is %v (%v), after %d questions", got.Data, err, l.asked)
		}
	}
}

func TestClient_takes_the_answer_to_a_write_that_was_bound_to_a_version_for_what_is_stored(t *testing.T) {
	l := newLate(t)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u"}, Data: map[string]string{"gone": "later"}}
	if err := l.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	l.shows = made.DeepCopy()
	for name, write := range map[string]func(*corev1.ConfigMap) error{
		"updated": func(o *corev1.ConfigMap) error { return l.Update(t.Context(), o) },
		"patched": func(o *corev1.ConfigMap) error {
			was := l.shows.DeepCopy()
			return l.Patch(t.Context(), o, client.MergeFromWithOptions(was, client.MergeFromWithOptimisticLock{}))
		},
	} {
		now := l.shows.DeepCopy()
		now.Data = map[string]string{"is": name}
		if err := write(now); err != nil {
			t.Fatal(err)
		}
		got := &corev1.ConfigMap{}
		if err := l.Get(t.Context(), key, got); err != nil || got.Data["is"] != name || len(got.Data) != 1 || got.ResourceVersion != now.ResourceVersion || l.asked != 0 {
			t.Errorf("%s: got %v of version %s (%v), after %d questions", name, got.Data, got.ResourceVersion, err, l.asked)
		}
		got.Data["is"] = "spoilt by who got it"
		if err := l.Get(t.Context(), key, got); err != nil || got.Data["is"] != name {
			t.Errorf("%s: got %v (%v) the second time", name, got.Data, err)
		}
		l.shows = now
	}
}

func TestClient_believes_that_what_it_has_written_is_gone(t *testing.T) {
	l := newLate(t)
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u"}}
	if err := l.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if err := l.server.Delete(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) || l.asked != 1 {
			t.Errorf("got %v, after %d questions", err, l.asked)
		}
	}
}

func TestClient_does_not_see_what_was_given_to_another_process(t *testing.T) {
	l := newLate(t)
	l.Sees = func(o client.Object) bool { return o.GetLabels()["whose"] == "ours" }
	made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "u", Labels: map[string]string{"whose": "ours"}}}
	if err := l.Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if err := l.Get(t.Context(), key, &corev1.ConfigMap{}); err != nil {
		t.Fatal(err)
	}
	given := made.DeepCopy()
	given.Labels["whose"] = "another's"
	if err := l.server.Update(t.Context(), given); err != nil {
		t.Fatal(err)
	}
	if err := l.Get(t.Context(), key, &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("it says %v", err)
	}
}
