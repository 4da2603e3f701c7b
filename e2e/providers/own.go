package providers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// OpenShiftInstall is the component that makes clusters of OpenShift, which this repository brings itself.
const OpenShiftInstall = "openshift-install"

// own is that component. Its order is that of what needs the core and nobody else.
var own = pinned{
	component: component{
		Name: OpenShiftInstall, Type: "control-plane", InstallOrder: 20, SelfImageRef: "registry.ci.openshift.org/openshift:capstan-provider",
	},
	pin: pin{Version: "v0.0.0"},
}

// Own packages component openshift-install from a folder with its kustomization. It is made anew each time, since nothing says by what
// the folder has changed.
func Own(ctx context.Context, o Options, folder string) (Profile, error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return Profile{}, fmt.Errorf("making the folder of profiles: %w", err)
	}
	work, err := os.MkdirTemp(o.Dir, "."+OpenShiftInstall+"-")
	if err != nil {
		return Profile{}, fmt.Errorf("making the folder of a profile: %w", err)
	}
	profile := Profile{Component: own.Name, Version: own.Version, Folder: filepath.Join(work, "profiles")}
	if err := generate(ctx, o, own, folder, profile.Folder); err != nil {
		return Profile{}, fmt.Errorf("building the profile of %s from %s: %w", own.Name, folder, err)
	}
	return profile, nil
}
