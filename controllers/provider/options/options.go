// Package options holds what every controller of the provider is given when it starts. It reads no flags and no environment; the command
// does.
package options

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/view"
)

// Options is the same for all controllers.
type Options struct {
	// Client reads from caches, but no object of our own kinds that is older than what was written last of it, and tells the stores of
	// writes, see newest.Client. Live reads from the API server itself.
	Client client.Client
	Live   client.Reader
	// Took has the client tell somebody of its writes.
	Took func(func(object client.Object, before string))
	// Side is how many instances of a machine get their passes side by side.
	Side int
	// Image is that of this program, for what runs beside the installer; empty for no installer.
	Image string
	// KeysAhead is for how many clusters keys are made ahead, zero for none.
	KeysAhead int
	// InsecureRegistries, as host[:port], may be spoken to in plain HTTP; loopback ones always may. ExtraCAFile has certificates of
	// registries that are trusted besides the system's and those of install-configs; empty for none.
	InsecureRegistries []string
	ExtraCAFile        string
	// House is what all machines share.
	House *house.House
}

// Part is what a machine brings to the provider.
type Part struct {
	Name string
	// Add has the manager run it.
	Add func(ctrl.Manager, Options) error
	// Kinds are those that it reads from caches.
	Kinds []house.Kind
	// View is what is shown of the machine.
	View view.Table
}
