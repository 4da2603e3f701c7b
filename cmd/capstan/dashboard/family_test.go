package dashboard

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/capstan-capi/capstan/controllers/bootimage"
	"github.com/capstan-capi/capstan/machine"
)

// requirement is a CompatibilityRequirement with a record in it, and a definition beside it.
func requirement(state, reason string) map[string]any {
	record, _ := json.Marshal(map[string]any{
		"state": state, "since": "2026-01-31T12:00:00Z", "reason": reason,
		"transitions": []any{map[string]any{"from": "Planning", "event": "x", "to": state, "at": "2026-01-31T12:00:00Z", "seconds": 1}},
	})
	condition := func(kind, message string) map[string]any {
		return map[string]any{"type": kind, "status": "True", "reason": "x", "message": message, "lastTransitionTime": "2026-01-31T12:00:00Z"}
	}
	return map[string]any{
		"apiVersion": "apiextensions.openshift.io/v1alpha1", "kind": "CompatibilityRequirement",
		"spec":   map[string]any{"compatibilitySchema": map[string]any{"customResourceDefinition": map[string]any{"type": "YAML", "data": strings.Repeat("x", 2000)}}},
		"status": map[string]any{"conditions": []any{condition("State", reason), condition("Record", string(record))}},
	}
}

// packed is a ConfigMap with something packed in it.
func packed(t *testing.T, key string, content any, data map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	zip := gzip.NewWriter(&zipped)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data, "binaryData": map[string]any{key: base64.StdEncoding.EncodeToString(zipped.Bytes())},
	}
}

// crowd is a cluster with 5,000 requirements, of which each hundredth is not met and one has degraded.
func crowd(t *testing.T) *fakeCluster {
	t.Helper()
	f := installed(t)
	for i := range 5000 {
		name, one := fmt.Sprintf("widgets-%04d", i), requirement("Met", "it is met")
		switch {
		case i == 777:
			one = requirement("Degraded", "its work fails: <b>")
		case i%100 == 0:
			one = requirement("Unmet", "CustomResourceDefinition lacks spec.Size")
		}
		one["metadata"] = map[string]any{"name": name, "uid": name, "resourceVersion": "1"}
		f.objects[requirementsPath][name] = one
	}
	return f
}

func TestFamily_of_5000_is_counted_listed_and_searched_in_memory(t *testing.T) {
	f := crowd(t)
	p := openOne(t, f)
	s := p.stream("/api/watch")
	view := s.until("the counts", func(l Line) bool { return l.Type == LineView && !l.View.Families[0].Reading }).View
	of := view.Families[0]
	if of.Machine != "compatibility" || of.Total != 5000 || of.Counts["Met"] != 4949 || of.Counts["Unmet"] != 50 || of.Counts["Degraded"] != 1 || of.Alarms != 1 {
		t.Errorf("the family is %+v", of)
	}
	f.awaitWatches(t, requirementsPath)
	before := f.requests()
	if len(before) > 5000/pageOf+10 {
		t.Errorf("it took %d requests", len(before))
	}
	ask := func(query string) (found Instances, took time.Duration) {
		took = atBest(func() { p.get("/api/contexts/0/family?machine=compatibility&"+query, &found) })
		return found, took
	}
	for query, want := range map[string]int{"": 5000, "state=Unmet": 50, "search=LACKS+spec.size": 50, "search=WIDGETS-12": 100, "search=nothing": 0, "state=Met&search=widgets-00": 99} {
		found, took := ask(query)
		if found.Matching != want || found.Total != 5000 || len(found.Items) != min(want, usualLimit) {
			t.Errorf("%q finds %d of %d, and lists %d", query, found.Matching, found.Total, len(found.Items))
		}
		if took > 100*time.Millisecond {
			t.Errorf("%q took %s", query, took)
		}
	}
	first, _ := ask("limit=3")
	if keys := []string{string(first.Items[0].Key), string(first.Items[1].Key), string(first.Items[2].Key)}; !slices.Equal(keys, []string{"widgets-0777", "widgets-0000", "widgets-0001"}) ||
		first.Items[0].Reason != "its work fails: <b>" || !first.Items[0].Alarm || first.Items[0].Since.IsZero() {
		t.Errorf("it begins with %+v", first.Items)
	}
	if last, _ := ask("offset=4999"); len(last.Items) != 1 || last.Items[0].Key != "widgets-4999" || last.Offset != 4999 {
		t.Errorf("it ends with %+v", last.Items)
	}
	var one Machine
	p.get("/api/contexts/0/instance?machine=compatibility&key=widgets-0777", &one)
	if one.State != "Degraded" || len(one.History) != 1 || len(one.Moves) == 0 || one.Untold == "" || one.Key != "widgets-0777" {
		t.Errorf("an instance is %+v", one)
	}
	if after := f.requests(); len(after) != len(before) {
		t.Errorf("lists and searches took %q", after[len(before):])
	}
}

func TestFamily_follows_changes_by_watch(t *testing.T) {
	f := installed(t)
	f.set(requirementsPath, "a", requirement("Met", "it is met"))
	p := openOne(t, f)
	s := p.stream("/api/watch")
	counts := func(state string, want int) func(Line) bool {
		return func(l Line) bool {
			return l.Type == LineView && !l.View.Families[0].Reading && l.View.Families[0].Counts[machine.State(state)] == want
		}
	}
	s.until("one that is met", counts("Met", 1))
	f.set(requirementsPath, "b", requirement("Unmet", "x"))
	s.until("another", counts("Unmet", 1))
	f.set(requirementsPath, "b", requirement("Met", "x"))
	s.until("that it is met", counts("Met", 2))
	f.set(requirementsPath, "a", nil)
	s.until("that one is gone", counts("Met", 1))
	lists := 0
	for _, request := range f.requests() {
		if strings.Contains(request, requirementsPath) && !strings.Contains(request, "watch") {
			lists++
		}
	}
	if lists != 1 {
		t.Errorf("there were %d lists", lists)
	}
}

func TestFamily_that_may_not_be_read_is_told_and_holds_up_nothing(t *testing.T) {
	for name, row := range map[string]struct {
		code   int
		unread int
		says   string
	}{
		"no right":   {http.StatusForbidden, 1, "not allowed to list CompatibilityRequirements"},
		"it hangs":   {0, 1, "nothing came within 500ms"},
		"it is sick": {http.StatusInternalServerError, 1, "asking to list CompatibilityRequirements"},
	} {
		t.Run(name, func(t *testing.T) {
			f := installed(t)
			if f.refuses[requirementsPath] = row.code; row.code == 0 {
				f.hangs = requirementsPath
			}
			p := openOne(t, f)
			if row.code == 0 {
				p.impatient()
			}
			s := p.stream("/api/watch")
			s.until("a view", state("Installed"))
			v := s.until("why", func(l Line) bool { return state("Installed")(l) && len(l.View.Unread) == row.unread }).View
			if !strings.Contains(v.Unread[0].Why, row.says) || v.Families[0].Problem == "" || v.Families[0].Reading {
				t.Errorf("it says %+v and %+v", v.Unread, v.Families[0])
			}
			var found Instances
			p.get("/api/contexts/0/family?machine=compatibility", &found)
			if found.Problem == "" || len(found.Items) != 0 {
				t.Errorf("the list is %+v", found)
			}
		})
	}
}

func TestFamily_of_boot_images_is_counted_by_the_gate_and_named_by_what_is_stored(t *testing.T) {
	f := installed(t)
	var named []any
	for i := range 64 {
		named = append(named, map[string]any{"name": fmt.Sprintf("machinesets.cluster.x-k8s.io/t-%04d", i), "state": "Failed", "why": "no image"})
	}
	gate := map[string]any{"sums": []any{map[string]any{"API": "ClusterAPI", "Kind": "MachineSet", "Total": 5000, "Done": 4000}}, "targets": named, "more": 936}
	f.set(operatorPath, "cluster-api", operator(map[string]any{
		"clusterapi": stands("Installed", ""), "bootgate": stands("Open", ""), "bootgateDetail": gate,
	}))
	shards := bootimage.RecordConfigMaps()
	stored := make([]map[string]any, len(shards))
	for i := range 900 {
		if at := i % len(shards); stored[at] == nil {
			stored[at] = map[string]any{}
		}
		stored[i%len(shards)][fmt.Sprintf("machinesets.cluster.x-k8s.io/t-%04d", i)] = map[string]any{"record": stands("Failed", "no image")}
	}
	for i, name := range shards {
		f.set(configMapsPath, name, packed(t, "records.json.gz", stored[i], nil))
	}
	p := openOne(t, f)
	v := p.stream("/api/watch").until("the counts", func(l Line) bool { return l.Type == LineView && l.View.Families[1].Total > 0 }).View
	of := v.Families[1]
	if of.Machine != "bootimage" || of.Total != 5000 || of.Counts["Current"] != 4000 || of.Counts["Failed"] != 900 || of.Unnamed != 4100 || of.Alarms != 900 || of.Problem == "" {
		t.Errorf("the family is %+v", of)
	}
	var found Instances
	p.get("/api/contexts/0/family?machine=bootimage&search=t-0899", &found)
	if found.Matching != 1 || found.Items[0].Since.IsZero() || found.Items[0].Reason != "no image" {
		t.Errorf("found is %+v", found)
	}
	asked := slices.DeleteFunc(f.requests(), func(request string) bool { return !strings.Contains(request, configMapsPath) })
	if len(asked) > 2*len(shards) {
		t.Errorf("5000 targets took %d requests", len(asked))
	}
}

func TestFamily_of_boot_images_says_that_there_are_none(t *testing.T) {
	p := openOne(t, installed(t))
	v := p.stream("/api/watch").until("the family", func(l Line) bool { return l.Type == LineView && !l.View.Families[1].Reading }).View
	if v.Families[1].Problem != notTold || v.Families[1].Total != 0 {
		t.Errorf("the family is %+v", v.Families[1])
	}
}

func TestObjects_of_5000_are_listed_and_searched_by_one_list(t *testing.T) {
	f := installed(t)
	for _, number := range []int{6, 7} {
		var entries []any
		for i := range 5000 {
			entries = append(entries, map[string]any{"version": "v1", "kind": "Secret", "namespace": "capi", "name": fmt.Sprintf("object-%04d", i), "component": "core", "wave": 1 + i/1000, "retained": i == 9})
		}
		one := packed(t, "inventory.json.gz", map[string]any{"revision": "r", "number": number, "contentID": "c", "entries": entries}, nil)
		one["metadata"] = map[string]any{"labels": map[string]any{"capi-operator.openshift.io/inventory": "capstan"}}
		f.set(configMapsPath, fmt.Sprintf("capstan-inventory-%d", number), one)
	}
	f.set(configMapsPath, "capstan-inventory-8", map[string]any{"apiVersion": "v1", "kind": "ConfigMap"})
	p := openOne(t, f)
	p.stream("/api/watch").until("a view", state("Installed")) // somebody looks all the time
	var found Objects
	p.get("/api/contexts/0/objects", &found)
	if found.Total != 10000 || found.Matching != 10000 || len(found.Items) != usualLimit || found.Items[0] != (Object{Object: "Secret capi/object-0000", Component: "core", Revision: 7, Wave: 1}) ||
		!strings.Contains(found.Problem, "capstan-inventory-8 is damaged") {
		t.Errorf("listed are %d of %d, beginning with %+v: %s", found.Matching, found.Total, found.Items[0], found.Problem)
	}
	before := len(f.requests())
	for query, want := range map[string]int{"revision=6": 5000, "revision=7&wave=2": 1000, "revision=7&search=OBJECT-49": 100, "search=nothing": 0} {
		took := atBest(func() { p.get("/api/contexts/0/objects?"+query, &found) })
		if found.Matching != want || took > 100*time.Millisecond {
			t.Errorf("%q finds %d after %s", query, found.Matching, took)
		}
	}
	p.get("/api/contexts/0/objects?revision=7&search=object-0009&limit=1", &found)
	if !found.Items[0].Retained {
		t.Errorf("found is %+v", found.Items)
	}
	lists := slices.DeleteFunc(f.requests()[before:], func(request string) bool { return !strings.Contains(request, configMapsPath) })
	if len(lists) > 0 {
		t.Errorf("searches took %q", lists)
	}
}

func TestParameters_that_are_wrong_are_refused(t *testing.T) {
	p := openOne(t, installed(t))
	for path, want := range map[string]int{
		"/api/contexts/7/family?machine=compatibility":                                    http.StatusNotFound,
		"/api/contexts/0/family?machine=clusterapi":                                       http.StatusNotFound,
		"/api/contexts/0/family":                                                          http.StatusNotFound,
		"/api/contexts/0/instance?machine=compatibility&key=none":                         http.StatusNotFound,
		"/api/contexts/0/family?machine=compatibility&limit=501":                          http.StatusBadRequest,
		"/api/contexts/0/family?machine=compatibility&limit=-1":                           http.StatusBadRequest,
		"/api/contexts/0/family?machine=compatibility&offset=x":                           http.StatusBadRequest,
		"/api/contexts/0/family?machine=compatibility&search=" + strings.Repeat("x", 201): http.StatusBadRequest,
		"/api/contexts/0/family?machine=compatibility&search=%25%3B%22":                   http.StatusOK,
		"/api/contexts/0/objects?wave=99999999999":                                        http.StatusBadRequest,
		"/api/contexts/0/objects?revision=x":                                              http.StatusBadRequest,
		"/api/contexts/0/objects?a;b":                                                     http.StatusBadRequest,
		"/api/contexts/..%2f0/history":                                                    http.StatusNotFound,
		"/api/nothing":                                                                    http.StatusNotFound,
	} {
		if response := p.ask(t.Context(), http.MethodGet, path, "", nil); response.StatusCode != want {
			t.Errorf("%s gets %d, want %d", path, response.StatusCode, want)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions} {
		if response := p.ask(t.Context(), method, "/api/contexts", "", nil); response.StatusCode < 400 {
			t.Errorf("%s is answered", method)
		}
		if response := p.ask(t.Context(), method, "/", "", nil); response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s of the page gets %d", method, response.StatusCode)
		}
	}
}

func TestFamily_keeps_no_more_than_there_is_room_for(t *testing.T) {
	r := &roster{}
	rows := map[machine.Key]row{}
	for i := range maxInstances {
		key := machine.Key(strconv.Itoa(i))
		rows[key] = row{Instance: Instance{Key: key, State: "Met"}}
	}
	r.replace(rows, nil, "", nil)
	r.put(row{Instance: Instance{Key: "0", State: "Unmet"}})
	if f, _ := r.family(); f.Problem != "" || f.Counts["Unmet"] != 1 {
		t.Errorf("a change of one that is known gives %+v", f)
	}
	r.put(row{Instance: Instance{Key: "new", State: "Unmet"}})
	if f, _ := r.family(); f.Problem != tooMany || f.Total != maxInstances || f.Counts["Unmet"] != 1 {
		t.Errorf("one too many gives %+v", f)
	}
	r.drop("0")
	r.put(row{Instance: Instance{Key: "new", State: "Unmet"}})
	if f, _ := r.family(); f.Total != maxInstances || f.Counts["Unmet"] != 1 {
		t.Errorf("with room again there is %+v", f)
	}
}
