package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/machine"
)

func TestUnpack_drops_what_no_store_would_have_written(t *testing.T) {
	own := func(key machine.Key) bool { return key != "ns/others" }
	fine := `"ns/fine":{"record":{"state":"Ready"},"note":[1]}`
	const nothing, no = "", "" // is kept, and is told
	for name, row := range map[string]struct{ text, kept, dropped string }{
		"nothing":                         {"", nothing, "EOF"},
		"null":                            {"null", nothing, "no JSON object"},
		"no object":                       {`["ns/fine"]`, nothing, "no JSON object"},
		"cut off":                         {"{" + fine, nothing, "EOF"},
		"all that is fine":                {"{" + fine + "}", "ns/fine Ready [1]", no},
		"spaces":                          {"{ \"ns/fine\" : { \"record\": { \"state\": \"Ready\" } , \"note\" : [ 1 ] } }", "ns/fine Ready [1]", no},
		"an entry of another shard":       {`{"ns/others":{"record":{"state":"Ready"}},` + fine + `}`, "ns/fine Ready [1]", "ns/others"},
		"an entry that cannot be decoded": {`{"a":7,"b":null,"c":"x","d":{},"e":{"state":"Ready"},` + fine + `}`, "ns/fine Ready [1]", "a b c d e"},
		"a record that cannot be decoded": {`{"a":{"record":{"state":7},"note":2},"b":{"record":null,"note":3}}`, "a  2,b  3", "a"},
		"a note that is too long":         {`{"a":{"record":{"state":"Ready"},"note":"` + strings.Repeat("x", 100) + `"}}`, "a Ready ", "a"},
		"an entry that is too large":      {`{"a":{"record":{"state":"` + strings.Repeat("x", maxEntry) + `"}},` + fine + `}`, "ns/fine Ready [1]", "a"},
		"content that is too large":       {`{"a":"` + strings.Repeat("x", maxUnpacked) + `",` + fine + `}`, nothing, "EOF"},
	} {
		got := unpack(gzipped(t, row.text), own, 100)
		if got.all == nil {
			t.Errorf("%s: nil", name)
		}
		var kept []string
		for _, key := range slices.Sorted(maps.Keys(got.all)) {
			record, _ := Decoded(got.all[key].Record)
			kept = append(kept, fmt.Sprintf("%s %s %s", key, record.State, got.all[key].Note))
		}
		if text := strings.Join(kept, ","); text != row.kept {
			t.Errorf("%s: %q", name, text)
		}
		if text := strings.Trim(fmt.Sprint(got.dropped), "[]"); got.err == nil && text != row.dropped {
			t.Errorf("%s: dropped is %q", name, text)
		}
		if got.err != nil && (row.dropped == no || !strings.Contains(got.err.Error(), row.dropped)) {
			t.Errorf("%s: %v", name, got.err)
		}
	}
}

func TestOf_reads_records_and_nothing_else(t *testing.T) {
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shard"}}
	if all, err := Of(stored); err != nil || len(all) != 0 {
		t.Errorf("of nothing: %v, %v", all, err)
	}
	stored.BinaryData = map[string][]byte{contentKey: gzipped(t, `{"a":{"record":{"state":"Ready"},"note":[1]},"b":{"note":[1]},"c":7}`)}
	if all, err := Of(stored); err != nil || len(all) != 1 || all["a"].State != "Ready" {
		t.Errorf("got %v, %v", all, err)
	}
	stored.BinaryData[contentKey] = []byte("spoilt")
	if _, err := Of(stored); err == nil || !strings.Contains(err.Error(), "ConfigMap ns/shard") {
		t.Errorf("of what is spoilt: %v", err)
	}
}

func TestConfigMaps_with_null_inside_works(t *testing.T) {
	c := newCluster(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: only.Namespace, Name: only.Name},
		BinaryData: map[string][]byte{contentKey: gzipped(t, "null")},
	})
	s := inConfigMaps(c, 1)
	pass(t, s, "ns/one", shotOf("Ready", ""))
	if got := loaded(t, inConfigMaps(c, 1), "ns/one"); got != "Ready" {
		t.Errorf("there is %s", got)
	}
}
