package house

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// served is a kind that an API server has or lacks, as fails says.
type served struct {
	object *configv1.ClusterImagePolicy

	mu    sync.Mutex
	fails error
	asked int
}

func (s *served) answer() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return s.fails
}

// comes ends what fails, and says how often it was asked until then.
func (s *served) comes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = nil
	return s.asked
}

func (s *served) List(metav1.ListOptions) (runtime.Object, error) {
	if err := s.answer(); err != nil {
		return nil, err
	}
	return &configv1.ClusterImagePolicyList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []configv1.ClusterImagePolicy{*s.object}}, nil
}

func (s *served) Watch(o metav1.ListOptions) (watch.Interface, error) {
	if err := s.answer(); err != nil {
		return nil, err
	}
	events := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 2})
	events.Add(s.object)
	if o.SendInitialEvents != nil {
		events.Action(watch.Bookmark, &configv1.ClusterImagePolicy{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "7", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
	}
	return events, nil
}

var lacking = apierrors.NewNotFound(schema.GroupResource{Group: "config.openshift.io", Resource: "clusterimagepolicies"}, "")

func TestOptional_a_kind_that_is_lacking_has_no_objects_until_it_comes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &served{fails: lacking, object: &configv1.ClusterImagePolicy{ObjectMeta: metav1.ObjectMeta{Name: "late", ResourceVersion: "6"}}}
		kinds := Kinds{{Version: configv1.GroupVersion, Object: &configv1.ClusterImagePolicy{}, List: &configv1.ClusterImagePolicyList{}, Optional: true}}
		informer := kinds.informers(nil, nil)(s, &configv1.ClusterImagePolicy{}, 0, toolscache.Indexers{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.RunWithContext(ctx)
		}()
		pass := func(while time.Duration) {
			<-time.After(while)
			synctest.Wait()
		}
		pass(time.Second)
		if !informer.HasSynced() || len(informer.GetStore().List()) != 0 {
			t.Errorf("synced: %v, with %d objects", informer.HasSynced(), len(informer.GetStore().List()))
		}
		pass(4 * time.Minute)
		if asked := s.comes(); asked > 2 {
			t.Errorf("it was asked for %d times in 4 minutes", asked)
		}
		pass(10 * time.Minute)
		if len(informer.GetStore().List()) != 1 {
			t.Errorf("there are %d objects after it has come", len(informer.GetStore().List()))
		}
		stop()
		<-ended
		pass(time.Hour) // what ends idle watches by then
	})
}

func TestArrival_has_a_kind_looked_for_at_once(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, arrival := &served{fails: lacking, object: &configv1.ClusterImagePolicy{ObjectMeta: metav1.ObjectMeta{Name: "late", ResourceVersion: "6"}}}, &Arrival{}
		kinds := Kinds{{Version: configv1.GroupVersion, Object: &configv1.ClusterImagePolicy{}, List: &configv1.ClusterImagePolicyList{}, Optional: true, Arrival: arrival}}
		informer := kinds.informers(nil, nil)(s, &configv1.ClusterImagePolicy{}, 0, toolscache.Indexers{})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.RunWithContext(ctx)
		}()
		pass := func(while time.Duration) {
			<-time.After(while)
			synctest.Wait()
		}
		pass(time.Minute)
		arrival.Expect()
		pass(10 * time.Second) // its definition is there, and it is not served yet
		s.comes()
		pass(5 * time.Second)
		if len(informer.GetStore().List()) != 1 {
			t.Errorf("there are %d objects 5 seconds after it has come", len(informer.GetStore().List()))
		}
		stop()
		<-ended
		pass(time.Hour)
	})
}

func TestOptional_a_kind_that_goes_is_listed_anew(t *testing.T) {
	s := &served{fails: lacking}
	o := optionally(s, &configv1.ClusterImagePolicy{}, nil).(*optional)
	if _, err := o.WatchWithContext(t.Context(), metav1.ListOptions{ResourceVersion: "7"}); !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from a version goes on: %v", err)
	}
	list, err := o.ListWithContext(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if items, err := meta.ExtractList(list); err != nil || len(items) != 0 {
		t.Errorf("listed are %v, %v", items, err)
	}
}

func TestOptional_a_kind_that_was_served_goes_only_when_that_is_confirmed(t *testing.T) {
	s, arrival := &served{object: &configv1.ClusterImagePolicy{}}, &Arrival{}
	there := errors.New("the API server has its definition")
	confirms := there
	arrival.Confirm(func(context.Context) error { return confirms })
	o := optionally(s, &configv1.ClusterImagePolicy{}, arrival).(*optional)
	s.fails = lacking
	if _, err := o.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("a kind that was never served: %v", err)
	}
	s.fails = nil
	if _, err := o.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	s.fails = lacking
	if _, err := o.ListWithContext(t.Context(), metav1.ListOptions{}); !errors.Is(err, there) {
		t.Errorf("its list is emptied: %v", err)
	}
	begins := true
	if _, err := o.WatchWithContext(t.Context(), metav1.ListOptions{SendInitialEvents: &begins}); !errors.Is(err, there) {
		t.Errorf("its watch begins with nothing: %v", err)
	}
	confirms = nil
	if _, err := o.ListWithContext(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("it is gone: %v", err)
	}
}

func TestOptional_tells_every_other_error(t *testing.T) {
	s := &served{fails: errors.New("no right to list them")}
	o := optionally(s, &configv1.ClusterImagePolicy{}, nil).(*optional)
	if _, err := o.ListWithContext(t.Context(), metav1.ListOptions{}); !errors.Is(err, s.fails) {
		t.Errorf("the list gives %v", err)
	}
	if _, err := o.WatchWithContext(t.Context(), metav1.ListOptions{}); !errors.Is(err, s.fails) {
		t.Errorf("the watch gives %v", err)
	}
}

func TestOptional_the_end_of_no_list_is_of_the_kind_that_is_lacking(t *testing.T) {
	of := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "x.example.com/v1", "kind": "A"}}
	end, err := (&optional{of: of}).endOfList()
	if err != nil {
		t.Fatal(err)
	}
	if kind := end.GetObjectKind().GroupVersionKind(); kind != of.GroupVersionKind() {
		t.Errorf("it is of kind %s", kind)
	}
}
