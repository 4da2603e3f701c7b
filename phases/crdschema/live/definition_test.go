package live

import (
	"fmt"
	goruntime "runtime"
	"strings"
	"testing"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"

	"github.com/capstan-capi/capstan/phases/crdschema"
)

// stored is how much JSON etcd stores of an object at most.
const stored = 1536 << 10

// widgets is a definition with a schema of spec.
func widgets(spec string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com","uid":"u","generation":7},"spec":{"group":"example.com",` +
		`"names":{"kind":"Widget","plural":"widgets"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + spec + `}}}}]}}`
}

// clauses is a schema with so many that say nothing.
func clauses(n int) string {
	return `{"type":"object","allOf":[{}` + strings.Repeat(",{}", n-1) + `]}`
}

// fields is a schema with so many.
func fields(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, `"a%d":{"type":"string"},`, i)
	}
	return `{"type":"object","properties":{` + strings.TrimSuffix(all.String(), ",") + `}}`
}

// bytesOf is how much one call allocates.
func bytesOf(do func()) uint64 {
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	do()
	goruntime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Without bounds as many clauses as are stored take 1.4 GiB.
func TestDefinition_is_decoded_only_within_bounds(t *testing.T) {
	spec := &requirementsv1alpha1.CompatibilityRequirementSpec{}
	spec.CompatibilitySchema.CustomResourceDefinition.Data = widgets(`{"type":"object"}`)
	spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	need, err := crdschema.Decode(spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		spec   string
		beyond string
		most   uint64 // MiB that are allocated for reading and comparing
	}{
		"as many clauses as are stored": {clauses((stored - 1<<10) / len(",{}")), "more than 100000 maps", 1},
		"as many as are read":           {clauses(99_990), "", 512},
		"as many fields as are stored":  {fields(57_000), "", 512},
		"a long name above many":        {`{"type":"object","properties":{"` + strings.Repeat("x", 100_000) + `":` + fields(1_000) + `}}`, "the paths of all fields", 1},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(widgets(c.spec))
			if len(text) > stored {
				t.Fatalf("it has %d bytes", len(text))
			}
			d := &definition{}
			took := bytesOf(func() {
				if err := d.UnmarshalJSON(text); err != nil {
					t.Error(err)
				}
				if d.beyond == nil {
					need.Compare(d.of)
				}
			})
			t.Logf("%d MiB for %d KiB", took>>20, len(text)>>10)
			if took > c.most<<20 || d.of.UID != "u" || d.of.Generation != 7 || (d.beyond == nil) != (c.beyond == "") || d.beyond != nil && !strings.Contains(d.beyond.Error(), c.beyond) {
				t.Errorf("%d bytes of data take %d MiB: %v", len(text), took>>20, d.beyond)
			}
		})
	}
}
