package golden

import (
	"errors"
	"fmt"

	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// aws looks at a provider spec of AWS.
func (l *look) aws(spec providerSpec) (sight, error) {
	var ami machinev1beta1.AWSResourceReference
	var placement machinev1beta1.Placement
	if err := errors.Join(spec.read("ami", &ami), spec.read("placement", &placement)); err != nil {
		return sight{}, err
	}
	if ami.ID == nil || *ami.ID == "" {
		return sight{}, &skipError{
			reason: NoImageID, text: "the AMI is not named by its ID, but by an ARN, filters or nothing", remedy: "name the AMI in ami.id",
		}
	}
	present := slot{present: *ami.ID}
	wanted, err := l.ami(placement.Region)
	if err != nil {
		return sight{slots: []slot{present}}, err
	}
	present.right = present.present == wanted
	present.tests = []Operation{test(l.target.path("ami"), spec["ami"])}
	// Only one of ID, ARN and filters may be there.
	present.edits = []Operation{set(l.target.path("ami"), map[string]any{"id": wanted})}
	return sight{wanted: wanted, slots: []slot{present}}, nil
}

// ami is the golden AMI of a region; without one that of the Infrastructure's.
func (l *look) ami(region string) (string, error) {
	if l.archErr != nil {
		return "", l.archErr
	}
	if region == "" {
		region = l.cluster.Region
	}
	image, err := l.golden.stream.GetAwsRegionImage(l.arch, region)
	if err != nil || image.Image == "" {
		return "", noImageHere("AMI of architecture %s in region %q", l.arch, region)
	}
	if err := amiForm.check(image.Image); err != nil {
		return "", fmt.Errorf("the golden stream for %s in region %s: %w", l.arch, region, err)
	}
	return image.Image, nil
}

// awsTemplate looks at the spec of an AWSMachine in a template.
func (l *look) awsTemplate(machine map[string]any) (sight, error) {
	id, _, err := unstructured.NestedString(machine, "ami", "id")
	if err != nil {
		return sight{}, fmt.Errorf("reading the template: %w", err)
	}
	lookup, _, err := unstructured.NestedString(machine, "ami", "eksLookupType")
	if err != nil {
		return sight{}, fmt.Errorf("reading the template: %w", err)
	}
	remedy := "name the AMI in ami.id of a new template"
	switch {
	case id == "" && lookup != "":
		return sight{}, &skipError{reason: EKSLookup, text: "the AMI is looked up among those of EKS", remedy: remedy}
	case id == "":
		return sight{}, &skipError{reason: NoImageID, text: "the AMI is not named by its ID", remedy: remedy}
	}
	present := slot{present: id}
	wanted, err := l.ami("")
	if err != nil {
		return sight{slots: []slot{present}}, err
	}
	present.right = id == wanted
	return sight{wanted: wanted, slots: []slot{present}}, nil
}
