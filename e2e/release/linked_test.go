package release_test

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"
)

// TestTheBinary_leaves_out_what_nobody_calls: a linker that meets templates or Ignition's validation, which call methods by their
// names, has to keep every method of every type.
func TestTheBinary_leaves_out_what_nobody_calls(t *testing.T) {
	binary, err := elf.Open(bin + "/capstan")
	if err != nil {
		t.Fatal(err)
	}
	defer binary.Close()
	symbols, err := binary.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == "text/template.(*state).evalField" }) {
		t.Error("bin/capstan evaluates templates")
	}
	if i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return strings.Contains(s.Name, "github.com/coreos/ignition") }); i >= 0 {
		t.Errorf("bin/capstan has %s: only bin/capstan-stub is to link Ignition", symbols[i].Name)
	}
	if i := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return strings.Contains(s.Name, "sigs.k8s.io/cluster-api/") }); i >= 0 {
		t.Errorf("bin/capstan has %s: only bin/capi-shim is to link Cluster API", symbols[i].Name)
	}
}
