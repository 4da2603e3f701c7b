package machines

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// whileUnwatched is after how long is looked again for what is on its way, and of which no watch may tell.
	whileUnwatched = 5 * time.Second
	// whileLeft is after how long the removal of the bootstrap is tried again that has met an error.
	whileLeft = 30 * time.Second
)

// doing is what one work has done so far.
type doing struct {
	did  []string
	errs []error
	// waits says that something is not wrong, and has to be done later: an object of the name is on its way out, or somebody else
	// has written at the same time.
	waits bool
	// leaves says that something of the bootstrap is left that cannot be removed now, which holds nothing up.
	leaves bool
}

func (d *doing) note(did, kind string, key client.ObjectKey) {
	d.did = append(d.did, fmt.Sprintf("%s %s %s", did, kind, key))
}

// meet takes an error that holds nothing else up.
func (d *doing) meet(err error) {
	if err != nil {
		d.errs = append(d.errs, err)
	}
}

// result is what the engine is told.
func (d *doing) result() (machine.Result, error) {
	result := machine.Result{Did: strings.Join(d.did, ", ")}
	switch {
	case d.waits:
		result.LookAgain = whileUnwatched
	case d.leaves:
		result.LookAgain = whileLeft
	}
	return result, errors.Join(d.errs...)
}
