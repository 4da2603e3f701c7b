package act

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/enginetest"
)

// numbering is an engine whose API server has ConfigMaps by these names, and ClusterRoles of ours with these numbers.
func numbering(t *testing.T, configMaps []string, roles ...int64) *Engine {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList"}}
		switch {
		case strings.HasSuffix(r.URL.Path, "/configmaps"):
			for _, name := range configMaps {
				list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
					Name: name, Annotations: map[string]string{decide.RevisionAnnotation: "77"},
				}})
			}
		case strings.HasSuffix(r.URL.Path, "/clusterroles"):
			for _, number := range roles {
				list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
					Name: "role", Annotations: map[string]string{decide.RevisionAnnotation: fmt.Sprint(number)},
					ManagedFields: []metav1.ManagedFieldsEntry{{
						Manager: "capstan", Operation: metav1.ManagedFieldsOperationApply,
						FieldsV1: metav1.NewFieldsV1(fmt.Sprintf(`{"f:metadata":{"f:annotations":{"f:%s":{}}}}`, decide.RevisionAnnotation)),
					}},
				}})
			}
		}
		_ = json.NewEncoder(w).Encode(onePage(t, r, list))
	}))
	t.Cleanup(server.Close)
	e, err := New(Config{REST: &rest.Config{Host: server.URL, QPS: -1}, Namespace: "n", Owner: enginetest.Owner, FieldManager: "capstan", InventoryPrefix: "capstan-inventory-"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// onePage leaves one object of a list, as a server may that is asked with a limit, and a token for the rest.
func onePage(t *testing.T, r *http.Request, list metav1.PartialObjectMetadataList) metav1.PartialObjectMetadataList {
	t.Helper()
	query := r.URL.Query()
	if query.Get("limit") == "" || query.Get("labelSelector") == "" {
		t.Errorf("%s asks for all objects at once", r.URL)
		return list
	}
	from, _ := strconv.Atoi(query.Get("continue"))
	if from+1 < len(list.Items) {
		list.Continue = strconv.Itoa(from + 1)
	}
	list.Items = list.Items[min(from, len(list.Items)):min(from+1, len(list.Items))]
	return list
}

func TestHighestNumber_looks_at_every_page(t *testing.T) {
	for name, row := range map[string]struct {
		stored []string
		roles  []int64
		want   int64
	}{
		"inventories": {[]string{"capstan-inventory-1", "other-9", "capstan-inventory-3", "capstan-inventory-2"}, nil, 3},
		"objects":     {nil, []int64{4, 1, 5, 2}, 5},
	} {
		if got, err := numbering(t, row.stored, row.roles...).HighestNumber(t.Context(), 0); err != nil || got != row.want {
			t.Errorf("%s: %d, %v, want %d", name, got, err, row.want)
		}
	}
	last := numbering(t, []string{"capstan-inventory-1", fmt.Sprintf("capstan-inventory-%d", int64(decide.MaxNumber)), "capstan-inventory-2"})
	if _, err := last.HighestNumber(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "capstan-inventory-"+strconv.FormatInt(decide.MaxNumber, 10)) {
		t.Errorf("got %v", err)
	}
}

func TestHighestNumber_always_leaves_one_for_the_next_revision(t *testing.T) {
	inventories := func(number int64) []string { return []string{fmt.Sprintf("capstan-inventory-%d", number)} }
	for name, row := range map[string]struct {
		stored  []string
		role    int64
		planned int64
		listed  int64
		want    int64
		names   string // what the error names
	}{
		"nothing":                                 {nil, 0, 0, 0, 0, ""},
		"an object after an inventory":            {inventories(3), 4, 0, 0, 4, ""},
		"an inventory after an object":            {inventories(5), 4, 0, 0, 5, ""},
		"a ConfigMap that is no inventory":        {[]string{"other-9", "capstan-inventory-x"}, 0, 0, 0, 0, ""},
		"an object without any inventory":         {nil, 1_000_000, 0, 0, 1_000_000, ""},
		"a leap":                                  {inventories(3), 1_000_004, 0, 0, 0, "ClusterRole role"},
		"no leap from a revision that is planned": {nil, 1_000_004, 9, 0, 1_000_004, ""},
		"no leap from a revision that is listed":  {nil, 2_000_004, 0, 2_000_000, 2_000_004, ""},
		"a leap from a revision that is listed":   {nil, 2_000_004, 0, 1_000_000, 0, "which no revision can have reached after 1000000"},
		"the last number but one":                 {inventories(decide.MaxNumber - 1), 0, 0, 0, decide.MaxNumber - 1, ""},
		"the last number":                         {inventories(decide.MaxNumber), 0, 0, 0, 0, fmt.Sprintf("ConfigMap n/capstan-inventory-%d", int64(decide.MaxNumber))},
		"the last number on an object":            {inventories(decide.MaxNumber - 1), decide.MaxNumber, 0, 0, 0, "ClusterRole role"},
	} {
		e := numbering(t, row.stored, row.role)
		if row.planned > 0 {
			e.Watch(enginetest.Revision(row.planned, enginetest.Made(t, "v1 ConfigMap")...))
		}
		got, err := e.HighestNumber(t.Context(), row.listed)
		if row.names == "" && (err != nil || got != row.want) {
			t.Errorf("%s: %d, %v, want %d", name, got, err, row.want)
		}
		if row.names != "" && (err == nil || !strings.Contains(err.Error(), row.names)) {
			t.Errorf("%s: %d, %v, want an error that names %s", name, got, err, row.names)
		}
	}
}
