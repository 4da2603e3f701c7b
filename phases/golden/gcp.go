package golden

import (
	"fmt"
	"regexp"
	"strconv"

	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// gcpPattern is an image in GCP, with or without the address of the API. A family is none: it names whatever is its newest.
var gcpPattern = regexp.MustCompile(`^(?:https?://(?:www|compute)\.googleapis\.com/compute/[a-z0-9]+/)?projects/([^/]+)/global/images/([^/]+)$`)

// parseGCP reads an image's project and name.
func parseGCP(image string) (project, name string, ok bool) {
	found := gcpPattern.FindStringSubmatch(image)
	if found == nil {
		return "", "", false
	}
	return found[1], found[2], true
}

func gcpImage(project, name string) string {
	return "projects/" + project + "/global/images/" + name
}

// gcp looks at a provider spec of GCP: at every disk that machines start from.
func (l *look) gcp(spec providerSpec) (sight, error) {
	var disks []*machinev1beta1.GCPDisk
	if err := spec.read("disks", &disks); err != nil {
		return sight{}, err
	}
	var seen sight
	for i, disk := range disks {
		if disk == nil || !disk.Boot {
			continue
		}
		index := strconv.Itoa(i)
		seen.slots = append(seen.slots, slot{
			present: normal(disk.Image),
			tests: []Operation{
				test(l.target.path("disks", index, "boot"), true),
				test(l.target.path("disks", index, "image"), disk.Image),
			},
		})
		if disk.Image == "" {
			return sight{}, noGCPImage()
		}
	}
	if len(seen.slots) == 0 {
		return sight{}, noGCPImage()
	}
	if err := l.wantGCP(&seen); err != nil {
		return seen, err
	}
	for i := range seen.slots {
		s := &seen.slots[i]
		s.edits = []Operation{set(s.tests[1].Path, seen.wanted)}
	}
	return seen, nil
}

func noGCPImage() error {
	return &skipError{reason: NoImageID, text: "there is no boot disk, or one that names no image", remedy: "name an image for each boot disk"}
}

// wantGCP finds the golden image, and compares with it.
func (l *look) wantGCP(seen *sight) error {
	if l.archErr != nil {
		return l.archErr
	}
	golden, err := l.golden.stream.GetArchitecture(l.arch)
	if err != nil || golden.Images.Gcp == nil || golden.Images.Gcp.Name == "" || golden.Images.Gcp.Project == "" {
		return noImageHere("GCP image of architecture %s", l.arch)
	}
	image := golden.Images.Gcp
	if err := projectForm.check(image.Project); err != nil {
		return fmt.Errorf("the golden stream for %s: %w", l.arch, err)
	}
	if err := imageForm.check(image.Name); err != nil {
		return fmt.Errorf("the golden stream for %s: %w", l.arch, err)
	}
	seen.wanted = gcpImage(image.Project, image.Name)
	for i := range seen.slots {
		s := &seen.slots[i]
		project, _, ok := parseGCP(s.present)
		s.own = ok && project == l.cluster.GCPProject
		s.right = s.present == seen.wanted
	}
	return nil
}

// gcpTemplate looks at the spec of a GCPMachine in a template.
func (l *look) gcpTemplate(machine map[string]any) (sight, error) {
	image, _, err := unstructured.NestedString(machine, "image")
	if err != nil {
		return sight{}, fmt.Errorf("reading the template: %w", err)
	}
	family, _, err := unstructured.NestedString(machine, "imageFamily")
	if err != nil {
		return sight{}, fmt.Errorf("reading the template: %w", err)
	}
	remedy := "name the image in image of a new template"
	switch {
	case image == "" && family != "":
		return sight{}, &skipError{reason: ImageFamily, text: "the image is whatever is the newest of a family", remedy: remedy}
	case image == "":
		return sight{}, &skipError{reason: NoImageID, text: "the template names no image", remedy: remedy}
	}
	seen := sight{slots: []slot{{present: normal(image)}}}
	return seen, l.wantGCP(&seen)
}
