// Package openshiftconfig watches what the machine openshiftconfig looks at and fires it. It decides nothing: there is no question about
// the state here.
package openshiftconfig

import (
	"github.com/capstan-capi/capstan/controllers/provider/options"
	"github.com/capstan-capi/capstan/controllers/view"
	table "github.com/capstan-capi/capstan/machine/openshiftconfig"
)

// Part is what the machine openshiftconfig brings to the provider.
var Part = options.Part{Name: table.Table.Name, Add: Add, Kinds: options.Kinds, View: view.TableOf(table.Table)}
