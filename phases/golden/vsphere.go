package golden

import (
	"errors"
	"fmt"

	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
)

// vsphere looks at a provider spec of vSphere. A golden image is a file there, of which somebody has to make a template first.
func (l *look) vsphere(spec providerSpec) (sight, error) {
	var template string
	var workspace *machinev1beta1.Workspace
	if err := errors.Join(spec.read("template", &template), spec.read("workspace", &workspace)); err != nil {
		return sight{}, err
	}
	var seen sight
	if template != "" {
		seen.slots = []slot{{present: template}}
	}
	needsVCenter := &skipError{
		reason: NeedsVCenter, text: "nobody makes a template of the golden image in vCenter",
		remedy: "make a template of the release's image in vCenter, and name it in the provider spec",
	}
	switch {
	case l.cluster.Templates == nil:
		return seen, needsVCenter
	case template == "":
		return seen, &skipError{reason: NoImageID, text: "the provider spec names no template", remedy: needsVCenter.remedy}
	case l.archErr != nil:
		return seen, l.archErr
	}
	golden, err := l.golden.stream.GetArchitecture(l.arch)
	if err != nil || golden.Artifacts["vmware"].Release == "" {
		return seen, noImageHere("vSphere image of architecture %s", l.arch)
	}
	release := golden.Artifacts["vmware"].Release
	if err := releaseForm.check(release); err != nil {
		return seen, fmt.Errorf("the golden stream for vSphere and %s: %w", l.arch, err)
	}
	wanted, found := l.cluster.Templates.Template(release, l.arch, workspace)
	if !found {
		return seen, needsVCenter
	}
	seen.wanted = wanted
	s := &seen.slots[0]
	s.right = template == wanted
	s.tests = []Operation{test(l.target.path("template"), template)}
	s.edits = []Operation{set(l.target.path("template"), wanted)}
	return seen, nil
}
