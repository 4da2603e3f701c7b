package clusterapi_test

import (
	"testing"

	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/machine/machinetest"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/clusterapi.md", 10)
	machinetest.Shown(t, table.Table, "../../README.md")
}

func TestStories(t *testing.T) {
	var wrote machinetest.Ledger[*phases.Pass]
	machinetest.PlayWorld(t, "testdata/*.txt", playedIn(&wrote))
	t.Run("every action has written all that it names, and nothing else", func(t *testing.T) { wrote.Check(t, true, machinetest.Actions(table.Table)...) })
}
