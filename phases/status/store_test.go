package status

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
	"github.com/capstan-capi/capstan/phases/newest"
)

// cluster has one ClusterOperator, whose fields it keeps by manager as an API
// server does, and a cache of it that lags behind while it is told to.
type cluster struct {
	live, cached  *configv1.ClusterOperator
	lags          bool
	writes, reads int
	fails         error
	// gaveUp are the managers in whose names nothing was applied.
	gaveUp []string
}

func (c *cluster) changed(live *configv1.ClusterOperator) *configv1.ClusterOperator {
	c.writes++
	live.ResourceVersion = strconv.Itoa(c.writes)
	c.live = live
	if !c.lags {
		c.cached = live
	}
	return live.DeepCopy()
}

type operators struct {
	configclient.ClusterOperatorInterface
	*cluster
}

func (c operators) Get(context.Context, string, metav1.GetOptions) (*configv1.ClusterOperator, error) {
	c.reads++
	if c.live == nil {
		return nil, apierrors.NewNotFound(configv1.Resource("clusteroperators"), "cluster-api")
	}
	return c.live.DeepCopy(), nil
}

func (c operators) Create(_ context.Context, o *configv1.ClusterOperator, _ metav1.CreateOptions) (*configv1.ClusterOperator, error) {
	if c.live != nil {
		return nil, apierrors.NewAlreadyExists(configv1.Resource("clusteroperators"), o.Name)
	}
	o.UID = "u"
	return c.changed(o.DeepCopy()), nil
}

func (c operators) ApplyStatus(_ context.Context, a *configv1ac.ClusterOperatorApplyConfiguration, o metav1.ApplyOptions) (*configv1.ClusterOperator, error) {
	if c.fails != nil {
		return nil, c.fails
	}
	if a.Status == nil {
		c.gaveUp = append(c.gaveUp, o.FieldManager)
		return c.changed(c.live.DeepCopy()), nil
	}
	live, entries := c.live.DeepCopy(), map[string]json.RawMessage{}
	for _, raw := range [][]byte{live.Status.Extension.Raw, a.Status.Extension.Raw} {
		for key, value := range Extension(raw) {
			entries[key] = value
		}
	}
	live.Status.Extension.Raw, _ = json.Marshal(entries)
	for _, c := range a.Status.Conditions {
		condition := configv1.ClusterOperatorStatusCondition{Type: *c.Type, Status: *c.Status, Reason: *c.Reason, Message: *c.Message}
		if old := conditions.Find(live.Status.Conditions, *c.Type); old != nil {
			*old = condition
		} else {
			live.Status.Conditions = append(live.Status.Conditions, condition)
		}
	}
	return c.changed(live), nil
}

type cache struct {
	client.Reader
	*cluster
}

func (c cache) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if c.cached == nil {
		return apierrors.NewNotFound(configv1.Resource("clusteroperators"), key.Name)
	}
	c.cached.DeepCopyInto(into.(*configv1.ClusterOperator))
	return nil
}

// storeIn is a store of the machine name in a cluster, at noon until the time is set.
func storeIn(c *cluster, name string) (*Store[int, int], *time.Time) {
	now := noon
	table := machine.Table[int, int]{Name: name, States: []machine.StateRow[int]{{Name: "Installed", Rest: true}, {Name: "Planning"}}}
	return New(Config[int, int]{
		Table: table, Operator: "cluster-api", Client: cache{cluster: c}, Operators: operators{cluster: c}, Now: func() time.Time { return now }, Log: logr.Discard(),
		Tell: func(s machine.Snapshot[int, int], _ Stored) Told {
			return Told{Line: s.Record.Reason, Detail: []byte(`{"waits":"` + s.Record.Reason + `"}`), Conditions: []Condition{{Type: name + "Degraded", Reason: "AsExpected", Message: s.Record.Reason}}}
		},
	}), &now
}

func recordOf(state machine.State, reason string) machine.Snapshot[int, int] {
	return machine.Snapshot[int, int]{Record: machine.Record{State: state, Since: noon, Reason: reason}}
}

func loaded(t *testing.T, s *Store[int, int]) string {
	t.Helper()
	record, found, err := s.Load(t.Context(), "cluster")
	if err != nil {
		t.Fatal(err)
	}
	if !found {
		return "none"
	}
	return string(record.State) + " " + record.Reason
}

func saved(t *testing.T, s *Store[int, int], shot machine.Snapshot[int, int]) time.Duration {
	t.Helper()
	later, err := s.Save(t.Context(), "cluster", shot)
	if err != nil {
		t.Fatal(err)
	}
	return later
}

func TestStore_what_was_saved_is_loaded_and_written_once(t *testing.T) {
	c := &cluster{}
	s, _ := storeIn(c, "first")
	if got := loaded(t, s); got != "none" {
		t.Errorf("a new cluster has the record %s", got)
	}
	for range 3 {
		if later := saved(t, s, recordOf("Installed", "fine")); later != 0 {
			t.Errorf("it wants to be called again in %s", later)
		}
	}
	if got := loaded(t, s); got != "Installed fine" || c.writes != 2 {
		t.Errorf("loaded %s after %d writes", got, c.writes)
	}
	again, _ := storeIn(c, "first")
	if got := loaded(t, again); got != "Installed fine" {
		t.Errorf("after a restart it loads %s", got)
	}
}

func TestStore_its_own_write_counts_while_the_cache_lags_behind(t *testing.T) {
	c := &cluster{}
	s, _ := storeIn(c, "first")
	c.lags = true
	saved(t, s, recordOf("Installed", "fine"))
	if got := loaded(t, s); got != "Installed fine" {
		t.Errorf("loaded %s", got)
	}
	c.live = nil // somebody deletes it before the cache has shown it
	if got := loaded(t, s); got != "none" {
		t.Errorf("after the deletion it loads %s", got)
	}
}

func TestStore_asks_once_a_minute_when_the_cache_lags_for_long(t *testing.T) {
	c := &cluster{}
	s, now := storeIn(c, "first")
	saved(t, s, recordOf("Applying", "before"))
	c.lags = true
	saved(t, s, recordOf("Installed", "fine"))
	writes, reads := c.writes, c.reads
	for minute := range 3 {
		*now = now.Add(newest.Trust)
		for range 2 {
			if got := loaded(t, s); got != "Installed fine" {
				t.Fatalf("after %d minutes it loads %s", minute+1, got)
			}
			saved(t, s, recordOf("Installed", "fine"))
		}
		if c.writes != writes || c.reads != reads+minute+1 {
			t.Errorf("after %d minutes it has written %d times more, and asked %d times", minute+1, c.writes-writes, c.reads-reads)
		}
	}
}

func TestStore_gives_up_what_former_managers_have_applied_once_and_after_its_own_write(t *testing.T) {
	applied := func(manager, subresource string, how metav1.ManagedFieldsOperationType) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Operation: how}
	}
	there := &configv1.ClusterOperator{}
	there.ManagedFields = []metav1.ManagedFieldsEntry{
		applied("former/one", "status", metav1.ManagedFieldsOperationApply), applied("former/two", "", metav1.ManagedFieldsOperationApply),
		applied("former/three", "status", metav1.ManagedFieldsOperationUpdate), applied("other", "status", metav1.ManagedFieldsOperationApply),
	}
	c := &cluster{live: there, cached: there}
	s, _ := storeIn(c, "first")
	s.Former = []string{"former/one", "former/two", "former/three", "former/four"}
	c.fails = errors.New("no")
	if _, err := s.Save(t.Context(), "cluster", recordOf("Installed", "fine")); err == nil || s.takenOver {
		t.Errorf("it is taken over although the store could not write: %v", err)
	}
	c.fails = nil
	for range 2 {
		saved(t, s, recordOf("Installed", "fine"))
		if got := c.gaveUp; len(got) != 1 || got[0] != "former/one" || conditions.Find(c.live.Status.Conditions, "firstDegraded") == nil {
			t.Errorf("it has given up what %v applied", got)
		}
	}
}

func TestStore_believes_a_cluster_that_was_restored_from_a_backup(t *testing.T) {
	c := &cluster{}
	s, _ := storeIn(c, "first")
	saved(t, s, recordOf("Applying", "an hour ago"))
	backup := c.live.DeepCopy()
	saved(t, s, recordOf("Installed", "fine"))
	if got := loaded(t, s); got != "Installed fine" {
		t.Fatalf("loaded %s", got)
	}
	c.live, c.cached = backup, backup // with its lower resourceVersion
	if got := loaded(t, s); got != "Applying an hour ago" {
		t.Errorf("after the restore it loads %s", got)
	}
}

func TestStore_believes_a_cluster_that_was_restored_before_the_cache_showed_the_last_write(t *testing.T) {
	c := &cluster{}
	s, now := storeIn(c, "first")
	saved(t, s, recordOf("Applying", "an hour ago"))
	backup := c.live.DeepCopy()
	c.lags = true
	saved(t, s, recordOf("Installed", "fine"))
	c.live, c.cached = backup, backup
	if later := saved(t, s, recordOf("Installed", "fine")); later != newest.Trust || c.writes != 3 {
		t.Errorf("it has written %d times, and wants to be called again in %s", c.writes, later)
	}
	*now = now.Add(newest.Trust)
	if got := loaded(t, s); got != "Applying an hour ago" {
		t.Errorf("a minute after its last write it loads %s", got)
	}
}

func TestStore_words_wait_and_whoever_changes_the_stored_record_is_heard(t *testing.T) {
	c := &cluster{}
	s, now := storeIn(c, "first")
	saved(t, s, recordOf("Planning", "wave 1"))
	if later := saved(t, s, recordOf("Planning", "wave 2")); later != wordsEvery {
		t.Errorf("words wait for %s", later)
	}
	if got := loaded(t, s); got != "Planning wave 2" {
		t.Errorf("what waits is %s", got)
	}
	*now = now.Add(wordsEvery)
	if later := saved(t, s, recordOf("Planning", "wave 2")); later != 0 || c.writes != 3 {
		t.Errorf("then they wait for %s, and there are %d writes", later, c.writes)
	}
	saved(t, s, recordOf("Planning", "wave 3"))
	forged := c.live.DeepCopy()
	forged.Status.Extension.Raw = []byte(`{"first":{"state":"Installed","reason":"forged"}}`)
	c.changed(forged)
	if got := loaded(t, s); got != "Installed forged" {
		t.Errorf("somebody has written, and it loads %s", got)
	}
	forged = c.live.DeepCopy()
	forged.Status.Extension.Raw = []byte(`{"first":"text"}`)
	c.changed(forged)
	if got := loaded(t, s); got != "none" {
		t.Errorf("of a record that cannot be read it loads %s", got)
	}
}

func TestStore_an_error_of_the_write_is_returned_and_it_is_written_again(t *testing.T) {
	c := &cluster{fails: errors.New("away")}
	s, _ := storeIn(c, "first")
	if _, err := s.Save(t.Context(), "cluster", recordOf("Installed", "fine")); err == nil || !strings.Contains(err.Error(), "writing the status of ClusterOperator cluster-api: away") {
		t.Errorf("got %v", err)
	}
	c.fails = nil
	saved(t, s, recordOf("Installed", "fine"))
	if got := loaded(t, s); got != "Installed fine" {
		t.Errorf("loaded %s", got)
	}
}

func TestStore_two_machines_share_a_ClusterOperator_and_nothing_in_it(t *testing.T) {
	c := &cluster{}
	one, _ := storeIn(c, "first")
	other, _ := storeIn(c, "second")
	saved(t, one, recordOf("Installed", "one"))
	saved(t, other, recordOf("Planning", "other"))
	writes := c.writes
	saved(t, one, recordOf("Installed", "one"))
	if got := loaded(t, one) + ", " + loaded(t, other); got != "Installed one, Planning other" || c.writes != writes {
		t.Errorf("loaded %s, after %d writes more", got, c.writes-writes)
	}
	if len(c.live.Status.Conditions) != 2 {
		t.Errorf("the conditions are %+v", c.live.Status.Conditions)
	}
}
