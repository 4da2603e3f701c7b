package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/coreos/stream-metadata-go/arch"

	"github.com/capstan-capi/capstan/message"
)

const (
	// ArchAnnotation lists the labels that Nodes of a target will have, for the autoscaler.
	ArchAnnotation = "capacity.cluster-autoscaler.kubernetes.io/labels"
	// archLabel is the label of it that counts.
	archLabel = "kubernetes.io/arch"
)

// architectures are those that OpenShift has, in Go's spelling.
var architectures = []string{"amd64", "arm64", "ppc64le", "s390x"}

// architecture is that of a target's machines, as the stream spells it. It is a skipError where nothing tells.
func (c *Cluster) architecture(t *Target) (string, error) {
	if list, found := t.Annotations[ArchAnnotation]; found && t.Kind != ControlPlaneMachineSets {
		listed, err := listedArch(list)
		return arch.RpmArch(listed), err
	}
	remedy := "name the architecture in the annotation " + ArchAnnotation + ", as in " + archLabel + "=amd64"
	if c.MultiPayload && t.Kind != ControlPlaneMachineSets {
		return "", &skipError{reason: ArchUnknown, text: "the release has all architectures, and no annotation names that of the machines", remedy: remedy}
	}
	if t.Kind == ControlPlaneMachineSets {
		remedy = "wait until all control-plane Nodes have one architecture"
	}
	found := slices.Compact(slices.Sorted(slices.Values(c.ControlPlaneArchitectures)))
	switch {
	case len(found) == 0:
		return "", &skipError{reason: ArchUnknown, text: "no control-plane Node tells the architecture", remedy: remedy}
	case len(found) > 1:
		text := "control-plane Nodes have several architectures: " + message.Shorten(strings.Join(found, ", "), maxTold)
		return "", &skipError{reason: ArchUnknown, text: text, remedy: remedy}
	case !slices.Contains(architectures, found[0]):
		text := fmt.Sprintf("control-plane Nodes have an architecture that no release has: %q", message.Shorten(found[0], maxTold))
		return "", &skipError{reason: ArchUnknown, text: text, remedy: remedy}
	}
	return arch.RpmArch(found[0]), nil
}

// listedArch is the architecture in a list of labels. One that is written and cannot be read is no reason to guess.
func listedArch(list string) (string, error) {
	found := ""
	for entry := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(entry, "=")
		value = strings.TrimSpace(value)
		if strings.TrimSpace(key) != archLabel || !slices.Contains(architectures, value) {
			continue
		}
		if found != "" && found != value {
			return "", fmt.Errorf("annotation %s names two architectures, %s and %s", ArchAnnotation, found, value)
		}
		found = value
	}
	if found == "" {
		return "", fmt.Errorf("annotation %s names none of the architectures %s: %q", ArchAnnotation, strings.Join(architectures, ", "), message.Shorten(list, maxTold))
	}
	return found, nil
}
