package act

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
	"github.com/capstan-capi/capstan/phases/engine/inventory"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// store is a shop of volumes, each of which is what would be lost with it. answers are what it says to deletions after it has
// obeyed, or has not.
type store struct {
	shop
	e     *Engine
	keep  *decide.Revision
	obeys bool
	codes []int
}

var (
	volumeKind     = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
	definitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
)

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path.Base(r.URL.Path) == "unreadable" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if r.Method != http.MethodDelete || len(s.codes) == 0 {
		s.shop.ServeHTTP(w, r)
		return
	}
	code := s.codes[0]
	s.codes = s.codes[1:]
	if s.obeys {
		delete(s.objects, path.Base(r.URL.Path))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(refused(code, "Expected").body))
}

// volume puts one into the store.
func (s *store) volume(name string, uid types.UID, finalizers ...string) {
	s.add(name, finalizers...)
	s.objects[name].SetKind(volumeKind.Kind)
	s.objects[name].SetUID(uid)
}

var volumeEntry = inventory.Entry{Version: "v1", Kind: volumeKind.Kind, Name: "a", Component: "core", Wave: 1}

func storing(t *testing.T, entries ...inventory.Entry) *store {
	t.Helper()
	s := &store{shop: shop{objects: map[string]*unstructured.Unstructured{}}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.e = seeing(t, &inventory.Inventory{Number: enginetest.Number, Entries: entries})
	s.e.cfg.Concurrency = 1
	s.e.dynamic = dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL})
	volumes := see.Resource{GVR: schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}}
	s.e.kinds = see.Kinds{Asked: true, Discovered: see.Discovered{Kinds: map[schema.GroupVersionKind]see.Resource{
		volumeKind: volumes, configMapKind: {GVR: configMaps}, definitionKind: {GVR: definitionKind.GroupVersion().WithResource("customresourcedefinitions")},
	}}}
	s.keep = enginetest.Revision(enginetest.Number + 1)
	s.e.Watch(s.keep)
	return s
}

// consents are to lose the volume of a UID.
func consents(uid types.UID) TeardownOptions {
	held := &decide.Holding{Objects: []decide.Held{{UID: uid}}}
	key := decide.Key{Version: "v1", Kind: volumeKind.Kind, Name: "a"}
	return TeardownOptions{Consents: map[decide.Key]decide.Consent{key.Identity(): {UID: uid, Count: 1, Digest: held.Digest(), By: "anna"}}}
}

// pass tears down, and says what is told of the volume.
func (s *store) pass(t *testing.T, options TeardownOptions) (action decide.Action, consented bool) {
	t.Helper()
	done, _ := s.e.Teardown(t.Context(), s.keep, options)
	all := slices.Concat(done.Gone, done.Waiting, done.Retained, done.Left)
	if len(all) != 1 {
		t.Fatalf("told is %+v", done)
	}
	return all[0].Action, all[0].Consented
}

func (s *store) wants(t *testing.T, when string, options TeardownOptions, action decide.Action, consented bool) {
	t.Helper()
	if got, used := s.pass(t, options); got != action || used != consented {
		t.Errorf("%s: %s, used %v", when, got, used)
	}
}

func TestTeardown_tells_a_consent_as_used_only_where_it_has_deleted_by_it(t *testing.T) {
	s := storing(t, volumeEntry)
	s.volume("a", "1", "somebody.test/waits")
	s.wants(t, "without a consent", TeardownOptions{}, decide.Retained, false)
	now := metav1.Now()
	s.objects["a"].SetDeletionTimestamp(&now)
	s.wants(t, "somebody else deletes it", consents("1"), decide.Terminating, false)
	delete(s.objects, "a")
	s.wants(t, "so it is gone", consents("1"), decide.Absent, false)

	s = storing(t, volumeEntry)
	s.volume("a", "1", "somebody.test/waits")
	s.wants(t, "it is deleted by the consent", consents("1"), decide.Terminating, true)
	s.objects["a"].SetDeletionTimestamp(&now)
	s.wants(t, "it is going, and the consent was taken back", TeardownOptions{}, decide.Terminating, true)
	delete(s.objects, "a")
	s.wants(t, "it is gone", consents("1"), decide.Absent, true)
	s.volume("a", "2", "somebody.test/waits")
	s.wants(t, "another one comes", consents("1"), decide.Retained, false)
	s.objects["a"].SetDeletionTimestamp(&now)
	s.wants(t, "somebody deletes that", consents("1"), decide.Terminating, false)
	delete(s.objects, "a")
	s.wants(t, "that is gone, too", consents("1"), decide.Absent, false)
}

func TestTeardown_tells_a_consent_as_used_whatever_the_API_server_answers_to_what_it_did(t *testing.T) {
	for name, row := range map[string]struct {
		obeys       bool
		code        int
		first, then decide.Action
		consented   bool
	}{
		"it obeys, and the answer is lost":        {true, http.StatusGatewayTimeout, decide.Failed, decide.Absent, true},
		"it does not, and somebody else does":     {false, http.StatusForbidden, decide.Failed, decide.Absent, false},
		"somebody else was first":                 {true, http.StatusNotFound, decide.Absent, decide.Absent, false},
		"it is changed meanwhile, and then obeys": {false, http.StatusConflict, decide.Deleted, decide.Deleted, true},
	} {
		s := storing(t, volumeEntry)
		s.volume("a", "1")
		s.codes, s.obeys = []int{row.code}, row.obeys
		s.wants(t, name, consents("1"), row.first, row.consented && row.first == decide.Deleted)
		delete(s.objects, "a")
		s.wants(t, name+", and looking again", consents("1"), row.then, row.consented)
	}
}

func TestTeardown_deletes_nothing_by_a_consent_that_is_taken_back_in_that_pass(t *testing.T) {
	for name, row := range map[string]struct {
		conflicts int // before it is taken back
		reads     int // of the object by then, the last of which is what is deleted
		err       error
		action    decide.Action
	}{
		"before anything is sent":             {0, 0, nil, decide.Retained},
		"while it is listed anew":             {0, 2, nil, decide.Retained},
		"after a conflict":                    {1, 0, nil, decide.Retained},
		"while it is listed after a conflict": {1, 4, nil, decide.Retained},
		"nobody knows whether":                {0, 0, errors.New("expected"), decide.Failed},
	} {
		s := storing(t, volumeEntry)
		s.volume("a", "1")
		s.codes = slices.Repeat([]int{http.StatusConflict}, row.conflicts)
		options := consents("1")
		options.Losing = func(decide.Key, types.UID) {}
		options.Stands = func() (bool, error) { return len(s.codes) > 0 || s.reads < row.reads, row.err }
		s.wants(t, name, options, row.action, false)
		if s.objects["a"] == nil || len(s.codes) > 0 {
			t.Errorf("%s: it is there: %v, and %d answers are left", name, s.objects["a"] != nil, len(s.codes))
		}
	}
}

func TestTeardown_tells_what_is_changed_again_and_again_as_failed(t *testing.T) {
	s := storing(t, volumeEntry)
	s.volume("a", "1")
	s.codes = slices.Repeat([]int{http.StatusConflict}, attempts)
	options := consents("1")
	options.Stands = func() (bool, error) { return true, nil }
	s.wants(t, "as often as it is tried", options, decide.Failed, false)
	s.codes = slices.Repeat([]int{http.StatusConflict}, attempts-1)
	s.wants(t, "once less", options, decide.Deleted, true)
}

func TestTeardown_tells_before_it_deletes_by_a_consent_so_that_another_process_knows(t *testing.T) {
	s := storing(t, volumeEntry)
	s.volume("a", "1")
	key := decide.Key{Version: "v1", Kind: volumeKind.Kind, Name: "a"}
	lost := map[decide.Key]types.UID{key.Identity(): "1"}
	options := consents("1")
	options.OnlyLook, options.Losing = true, func(key decide.Key, uid types.UID) {
		t.Errorf("%s (%s) is told to go although nothing is deleted", key, uid)
	}
	s.wants(t, "looking only", options, decide.Pending, false)
	told := 0
	options.OnlyLook, options.Losing = false, func(k decide.Key, uid types.UID) {
		if told++; k.Identity() != key.Identity() || uid != "1" || s.objects["a"] == nil {
			t.Errorf("told is %s (%s), of %v", k, uid, s.objects["a"])
		}
		s.volume("a", "2") // meanwhile somebody puts another one there
	}
	s.wants(t, "another one is there by then", options, decide.Retained, false)
	s.volume("a", "1")
	options.Losing = func(decide.Key, types.UID) { told++ }
	if s.wants(t, "as it was consented to", options, decide.Deleted, true); told != 2 {
		t.Errorf("told %d times", told)
	}

	for name, uid := range map[string]types.UID{"one that another process has deleted": "1", "another one than it has": "2"} {
		s := storing(t, volumeEntry)
		now := metav1.Now()
		s.volume("a", uid, "somebody.test/waits")
		s.objects["a"].SetDeletionTimestamp(&now)
		options := consents("1")
		options.Lost = lost
		s.wants(t, name, options, decide.Terminating, uid == "1")
		delete(s.objects, "a")
		options.Lost = nil
		s.wants(t, name+", which is gone", options, decide.Absent, uid == "1")
	}
}

func TestTeardown_goes_on_while_a_consent_stands_and_another_definition_cannot_be_read(t *testing.T) {
	unreadable := inventory.Entry{Group: definitionKind.Group, Version: "v1", Kind: definitionKind.Kind, Name: "unreadable", Component: "core", Wave: 1}
	key := unreadable.Key().Identity()
	before := consents("1")
	before.Lost = map[decide.Key]types.UID{key: "1"}
	for name, row := range map[string]struct {
		consents TeardownOptions
		goes     bool
	}{
		"for a volume":             {consents("1"), true},
		"for that very one before": {before, false},
		"and none any more":        {TeardownOptions{Lost: before.Lost}, false},
		"for that very one too":    {TeardownOptions{Consents: map[decide.Key]decide.Consent{key: {UID: "1"}}}, false},
	} {
		s := storing(t, inventory.Entry{Version: "v1", Kind: "ConfigMap", Name: "a", Component: "core", Wave: 1}, unreadable)
		s.add("a")
		done, err := s.e.Teardown(t.Context(), s.keep, row.consents)
		if goes := s.objects["a"] == nil; goes != row.goes || err == nil || !strings.Contains(done.Blocked(), "unreadable") {
			t.Errorf("%s: the other object goes: %v; %s, %v", name, goes, done.Blocked(), err)
		}
	}
}

func TestTeardown_has_everything_wait_for_a_definition_that_is_going_also_while_no_consent_stands(t *testing.T) {
	definition := inventory.Entry{Group: definitionKind.Group, Version: "v1", Kind: definitionKind.Kind, Name: "as.test", Component: "core", Wave: 1}
	for name, row := range map[string]struct{ going, waits bool }{"it is going": {true, true}, "it stays": {false, false}} {
		s := storing(t, inventory.Entry{Version: "v1", Kind: "ConfigMap", Name: "a", Component: "core", Wave: 1}, definition)
		s.add("a")
		s.add("as.test")
		crd := s.objects["as.test"]
		crd.SetGroupVersionKind(definitionKind)
		if row.going {
			now := metav1.Now()
			crd.SetDeletionTimestamp(&now)
			crd.SetFinalizers([]string{"customresourcecleanup.apiextensions.k8s.io"})
		}
		w := &see.Watch{Cluster: s.e.cluster, GVK: definitionKind, Resource: s.e.kinds.Discovered.Kinds[definitionKind], Synced: true}
		w.Wrote(see.ObjectFrom(crd))
		s.e.watches = map[place]*see.Watch{{kind: definitionKind}: w}
		done, err := s.e.Teardown(t.Context(), s.keep, TeardownOptions{})
		if waits := s.objects["a"] != nil; waits != row.waits || err != nil {
			t.Errorf("%s: the other object waits: %v; %s, %v", name, waits, done.Blocked(), err)
		}
	}
}
