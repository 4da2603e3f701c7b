package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/capstan-capi/capstan/controllers/options"
	"github.com/capstan-capi/capstan/phases/bootgate"
)

// bootImageAPIs are those whose boot images can be moved.
var bootImageAPIs = []string{bootgate.MachineAPI, bootgate.ClusterAPI}

type bootImageFlags struct {
	apis           []string
	gcpProject     string
	stream         string
	limits         string
	rollsOutBefore string
}

func (f *bootImageFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.apis, "boot-images", nil, "`APIs` whose machine templates are moved to the release's boot image, as far as MachineConfiguration cluster enrols them: MachineAPI, ClusterAPI or both with a comma; without it, no request is made for boot images")
	flags.StringVar(&f.gcpProject, "boot-image-gcp-project", "rhcos-cloud", "`project` in which releases publish their boot images on GCP: an image of it is a release's own")
	flags.StringVar(&f.stream, "boot-image-os-stream", "rhel-9", "`stream` of operating systems that the release's boot images are of: what is labelled with another one is left alone")
	flags.StringVar(&f.limits, "boot-image-skew-limits", "4.13.0,9.2", "`release,RHEL` of the oldest boot images that the next upgrade can do with; older ones hold up upgrades")
	flags.StringVar(&f.rollsOutBefore, "boot-image-cpms-rolls-out-before", "4.21", "first minor `release` whose ControlPlaneMachineSet does not replace machines that differ in nothing but the boot image")
}

// nameForm is what projects of GCP and streams look like.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]*$`)

func (f *bootImageFlags) validate() error {
	if len(f.apis) == 0 {
		return nil
	}
	for i, api := range f.apis {
		if !slices.Contains(bootImageAPIs, api) || slices.Contains(f.apis[:i], api) {
			return fmt.Errorf("--boot-images %s is neither %s nor both with a comma", strings.Join(f.apis, ","), strings.Join(bootImageAPIs, " nor "))
		}
	}
	if !nameForm.MatchString(f.gcpProject) {
		return fmt.Errorf("--boot-image-gcp-project %q is no project such as rhcos-cloud", f.gcpProject)
	}
	if !nameForm.MatchString(f.stream) {
		return fmt.Errorf("--boot-image-os-stream %q is no stream such as rhel-9", f.stream)
	}
	if _, err := bootgate.ParseLimits(f.limits); err != nil {
		return fmt.Errorf("--boot-image-skew-limits: %w", err)
	}
	if _, err := bootgate.ParseRelease(f.rollsOutBefore); err != nil {
		return fmt.Errorf("--boot-image-cpms-rolls-out-before: %w", err)
	}
	return nil
}

func (f *bootImageFlags) options() options.BootImages {
	return options.BootImages{
		MachineAPI: slices.Contains(f.apis, bootgate.MachineAPI), ClusterAPI: slices.Contains(f.apis, bootgate.ClusterAPI),
		GCPProject: f.gcpProject, Stream: f.stream, Limits: f.limits, RollsOutBefore: f.rollsOutBefore,
	}
}
