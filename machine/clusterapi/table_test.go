package clusterapi_test

import (
	"testing"

	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/machine/machinetest"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/clusterapi.md")
	machinetest.Shown(t, table.Table, "../../README.md")
}

func TestStories(t *testing.T) {
	machinetest.PlayWorld(t, "testdata/*.txt", newWorld)
}
