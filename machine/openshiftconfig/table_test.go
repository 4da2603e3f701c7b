package openshiftconfig_test

import (
	"testing"

	"github.com/capstan-capi/capstan/machine/machinetest"
	table "github.com/capstan-capi/capstan/machine/openshiftconfig"
)

func TestTable(t *testing.T) {
	machinetest.Check(t, table.Table, "../../docs/state-diagrams/openshiftconfig.md", 7)
}

func TestStories(t *testing.T) { machinetest.Play(t, table.Table, "testdata/*.txt") }
