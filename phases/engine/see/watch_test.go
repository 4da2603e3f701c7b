package see

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/capstan-capi/capstan/phases/newest"
)

func TestWatched_tells_that_a_kind_is_gone_also_when_the_watch_had_failed_before(t *testing.T) {
	w, told, kicked := watching()
	ctx, cancel := context.WithCancel(t.Context())
	w.Cancel = cancel
	_ = w.requestDone(ctx, errors.New("connection refused"))
	*told, *kicked = 0, false
	_ = w.requestDone(ctx, apierrors.NewNotFound(schema.GroupResource{Resource: "gadgets"}, ""))
	if !w.Gone || *told == 0 || !*kicked {
		t.Errorf("gone %v, told %d times, kicked %t: nobody starts another watch", w.Gone, *told, *kicked)
	}
}

func version(number, resourceVersion string) *Object {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	u.SetName(number)
	u.SetResourceVersion(resourceVersion)
	return ObjectFrom(u)
}

// watching is a store that counts how often the world was told, and notes whether other watches are needed.
func watching() (w *Watch, told *int, kicked *bool) {
	told, kicked = new(int), new(bool)
	c := &Cluster{Reset: func() {}, Now: time.Now, Kick: func() { *kicked = true }, Notify: func() { *told++ }}
	return &Watch{Cluster: c, GVK: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}}, told, kicked
}

func (w *Watch) versionOf(name string) string {
	if obj := w.Objects[types.NamespacedName{Name: name}]; obj != nil {
		return obj.GetResourceVersion()
	}
	return ""
}

func TestWatched_never_goes_back_behind_our_own_write(t *testing.T) {
	w, told, _ := watching()
	_ = w.Replace([]any{version("a", "5")}, "5")
	w.Wrote(version("a", "9"))
	*told = 0
	_ = w.Update(version("a", "7")) // what happened before it
	_ = w.Delete(version("a", "8"))
	if w.versionOf("a") != "9" || *told != 0 {
		t.Errorf("what happened before it: at %q, told %d times", w.versionOf("a"), *told)
	}
	_ = w.Update(version("a", "9")) // the echo of it
	if w.versionOf("a") != "9" || *told != 0 {
		t.Errorf("at %s, told %d times", w.versionOf("a"), *told)
	}
	_ = w.Update(version("a", "10"))
	if w.versionOf("a") != "10" || *told != 1 {
		t.Errorf("a change: at %q, told %d times", w.versionOf("a"), *told)
	}
	_ = w.Delete(version("a", "11"))
	if w.versionOf("a") != "" || *told != 2 {
		t.Errorf("a deletion: at %q, told %d times", w.versionOf("a"), *told)
	}
}

func TestWatched_a_list_keeps_only_what_is_newer_than_itself(t *testing.T) {
	w, _, _ := watching()
	for _, obj := range []*Object{version("deleted", "3"), version("changed", "4")} {
		_ = w.Add(obj)
	}
	w.Wrote(version("written", "12"))
	_ = w.Replace([]any{version("changed", "8"), version("new", "9")}, "10")
	for name, want := range map[string]string{"deleted": "", "written": "12", "changed": "8", "new": "9"} {
		if got := w.versionOf(name); got != want {
			t.Errorf("%s is at %q, want %q", name, got, want)
		}
	}
}

func TestWatched_an_answer_that_comes_late_brings_nothing_back_that_a_list_from_after_it_has_not_shown(t *testing.T) {
	w, _, _ := watching()
	w.Wrote(version("before", "3"))
	if w.versionOf("before") != "3" {
		t.Errorf("before there is a list it is at %q", w.versionOf("before"))
	}
	_ = w.Replace([]any{version("there", "8")}, "10")
	w.Wrote(version("gone", "9"))
	w.Wrote(version("gone with the list", "10"))
	w.Wrote(version("created", "11"))
	for name, want := range map[string]string{"before": "", "there": "8", "gone": "", "gone with the list": "", "created": "11"} {
		if got := w.versionOf(name); got != want {
			t.Errorf("%s is at %q, want %q", name, got, want)
		}
	}
}

func TestWatched_believes_an_API_server_that_was_restored_from_a_backup(t *testing.T) {
	w, told, _ := watching()
	now := time.Now()
	w.Cluster.Now = func() time.Time { return now }
	for _, name := range []string{"shown", "new", "deleted", "written", "gone"} {
		_ = w.Add(version(name, "90"))
	}
	w.Wrote(version("written", "95"))
	w.Wrote(version("gone", "96"))
	for name, want := range map[string]string{"shown": "90", "written": "95", "gone": "96"} {
		if got := w.versionOf(name); got != want {
			t.Fatalf("%s is at %q, want %q", name, got, want)
		}
	}
	_ = w.Replace([]any{version("shown", "40"), version("deleted", "41"), version("written", "42")}, "50")
	for name, want := range map[string]string{"shown": "40", "new": "", "deleted": "41", "written": "95", "gone": "96"} {
		if got := w.versionOf(name); got != want {
			t.Errorf("after the list %s is at %q, want %q", name, got, want)
		}
	}
	*told = 0
	_ = w.Update(version("shown", "51"))
	_ = w.Delete(version("deleted", "52"))
	if w.versionOf("shown") != "51" || w.versionOf("deleted") != "" || *told != 2 {
		t.Errorf("changes after that: %q, %q, told %d times", w.versionOf("shown"), w.versionOf("deleted"), *told)
	}
	now = now.Add(newest.Trust)
	_ = w.Update(version("written", "53"))
	_ = w.Replace([]any{version("written", "53")}, "54")
	if w.versionOf("written") != "53" || w.versionOf("gone") != "" {
		t.Errorf("our writes of a minute ago that are not there are at %q and %q", w.versionOf("written"), w.versionOf("gone"))
	}
}

func TestWatched_no_write_counts_from_before_a_list_was_asked_for(t *testing.T) {
	w, _, _ := watching()
	now := time.Now()
	w.Cluster.Now = func() time.Time { return now }
	_ = w.Replace([]any{version("changed", "5"), version("removed", "6")}, "6")
	w.Wrote(version("changed", "90"))
	w.Wrote(version("created", "96"))
	_ = w.Delete(version("removed", "97"))
	now = now.Add(time.Second)
	w.listBegins()
	now = now.Add(time.Second)
	w.Wrote(version("late", "98"))
	_ = w.Replace([]any{version("changed", "40"), version("removed", "6")}, "97") // the versions were used again
	for name, want := range map[string]string{"changed": "40", "removed": "6", "created": "", "late": "98"} {
		if got := w.versionOf(name); got != want {
			t.Errorf("%s is at %q, want %q", name, got, want)
		}
	}
}

func TestWatched_what_was_shown_counts_for_a_minute_while_the_watch_cannot_be_opened(t *testing.T) {
	w, told, kicked := watching()
	now := time.Now()
	w.Cluster.Now = func() time.Time { return now }
	refused := errors.New("forbidden")
	fails := func(after time.Duration, seen bool, tells int) {
		t.Helper()
		now, *told, *kicked = now.Add(after), 0, false
		_ = w.requestDone(t.Context(), refused)
		if w.Seen() != seen || *told != tells || *kicked != (tells > 0) {
			t.Errorf("seen %t, want %t; told %d times, want %d", w.Seen(), seen, *told, tells)
		}
	}
	fails(0, false, 1)
	_ = w.Replace([]any{version("a", "5")}, "5")
	fails(time.Hour, true, 1)
	fails(30*time.Second, true, 0)
	fails(30*time.Second, false, 1)
	fails(time.Hour, false, 0)
	*told = 0
	_ = w.requestDone(t.Context(), nil)
	if !w.Seen() || w.Err != nil || *told != 1 || w.versionOf("a") != "5" {
		t.Errorf("after it was opened: seen %t, error %v, told %d times", w.Seen(), w.Err, *told)
	}
}

func TestWatched_a_list_that_does_not_come_to_its_end_is_told(t *testing.T) {
	w, told, _ := watching()
	w.listBegins()
	if w.Err != nil || *told != 0 {
		t.Errorf("the first one is an error: %v", w.Err)
	}
	refused := errors.New("forbidden")
	_ = w.requestDone(t.Context(), refused)
	if w.listBegins(); !errors.Is(w.Err, refused) {
		t.Errorf("of one that was refused is told %v", w.Err)
	}
	for range 2 {
		w.listAnswered()
		w.listBegins()
	}
	if w.Err == nil || !strings.Contains(w.Err.Error(), "did not come to its end, and was begun anew: tries 3; if it lasts, look at") || *told != 1 {
		t.Errorf("told %d times: %v", *told, w.Err)
	}
	_ = w.Replace(nil, "5")
	if w.Err != nil {
		t.Errorf("after one that did: %v", w.Err)
	}
	if w.listBegins(); w.Err != nil {
		t.Errorf("the next one: %v", w.Err)
	}
}

func TestWatched_a_404_for_a_kind_that_is_always_served_is_an_error_like_any_other(t *testing.T) {
	w, told, _ := watching()
	w.AlwaysServed = true
	_ = w.Replace([]any{version("a", "5")}, "5")
	w.Cancel = func() { t.Error("the watch is ended") }
	*told = 0
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "")
	if err := w.requestDone(t.Context(), missing); !errors.Is(err, error(missing)) {
		t.Errorf("the reflector is told %v, and does not try again", err)
	}
	if w.Gone || !w.Synced || w.Err == nil || w.versionOf("a") != "5" || *told == 0 {
		t.Errorf("gone %t, synced %t, error %v, told %d times", w.Gone, w.Synced, w.Err, *told)
	}
}

func TestWatched_an_answer_that_is_slower_than_the_deletion_brings_nothing_back(t *testing.T) {
	w, _, _ := watching()
	_ = w.Add(version("a", "9")) // the watch shows our write
	_ = w.Delete(version("a", "10"))
	w.Wrote(version("a", "9")) // and only now the answer comes
	if w.versionOf("a") != "" {
		t.Errorf("an object that is gone is known at %s", w.versionOf("a"))
	}
	w.Wrote(version("a", "11"))
	if w.versionOf("a") != "11" {
		t.Errorf("what was created after that is known at %q", w.versionOf("a"))
	}
}

func TestWatched_believes_the_watch_where_versions_are_no_numbers(t *testing.T) {
	w, _, _ := watching()
	w.Wrote(version("deleted", "b2"))
	_ = w.Delete(version("deleted", "c3"))
	w.Wrote(version("unlisted", "b2"))
	_ = w.Replace([]any{version("listed", "a1")}, "d4")
	if w.versionOf("deleted") != "" || w.versionOf("unlisted") != "" || w.versionOf("listed") != "a1" {
		t.Errorf("left: %v", w.Objects)
	}
}
