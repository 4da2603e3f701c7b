package privatecapi_test

import (
	"testing"

	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/privatecapi.md", 7)
}

func TestStories(t *testing.T) { machinetest.Play(t, table.Table, "testdata/*.txt") }
