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
	wrote := ledger{}
	machinetest.PlayWorld(t, "testdata/*.txt", playedIn(wrote))
	t.Run("every action has written all that it names, and nothing else", func(t *testing.T) { wrote.check(t, table.Table, true) })
}
