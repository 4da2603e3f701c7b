package inputs

import (
	"context"
	"errors"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
)

func (s *Seen) byInstaller(context.Context, *payload.Inputs, bool) (machine.Result, error) {
	return machine.Result{}, errors.New("engine InstallerJob")
}
