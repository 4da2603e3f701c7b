package legacyoperator_test

import (
	"testing"

	table "github.com/capstan-capi/capstan/machine/legacyoperator"
	"github.com/capstan-capi/capstan/machine/machinetest"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/legacyoperator.md", 7)
}

func TestStories(t *testing.T) { machinetest.Play(t, table.Table, "testdata/*.txt") }
