package bootgate

import (
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// The annotations of MachineConfiguration cluster that enrol targets of the Cluster API: All, None, or a label selector.
const (
	MachineSetsAnnotation        = "capi-operator.openshift.io/boot-images-machinesets"
	MachineDeploymentsAnnotation = "capi-operator.openshift.io/boot-images-machinedeployments"
)

// The words of such an annotation that are no selectors.
const (
	allOfThem  = string(operatorv1.All)
	noneOfThem = string(operatorv1.None)
)

// managed are the resources of the Machine API that have boot images, in the order in which the status lists them.
var managed = []operatorv1.MachineManagerMachineSetsResourceType{operatorv1.MachineSets, operatorv1.ControlPlaneMachineSets}

// defaultAll are the platforms whose MachineSets are all enrolled where nobody says otherwise.
var defaultAll = []configv1.PlatformType{configv1.AWSPlatformType, configv1.GCPPlatformType, configv1.AzurePlatformType}

// Resolve is what status.managedBootImagesStatus has to be: for each resource of each API group what the administrator
// says, or else the default of the platform. An empty list says None for all.
func Resolve(spec operatorv1.ManagedBootImages, platform configv1.PlatformType) operatorv1.ManagedBootImages {
	resolved := *spec.DeepCopy()
	for _, resource := range managed {
		said := slices.ContainsFunc(resolved.MachineManagers, func(m operatorv1.MachineManager) bool {
			return m.Resource == resource && m.APIGroup == operatorv1.MachineAPI
		})
		if said {
			continue
		}
		mode := operatorv1.None
		noOpinion := spec.MachineManagers == nil || len(spec.MachineManagers) > 0
		if noOpinion && resource == operatorv1.MachineSets && slices.Contains(defaultAll, platform) {
			mode = operatorv1.All
		}
		resolved.MachineManagers = append(resolved.MachineManagers, operatorv1.MachineManager{
			Resource: resource, APIGroup: operatorv1.MachineAPI, Selection: operatorv1.MachineManagerSelector{Mode: mode},
		})
	}
	return resolved
}

// Selection says which targets of a resource are enrolled. The zero value is that of nobody having said anything: none.
type Selection struct {
	by labels.Selector
	// refuses says that somebody has said None.
	refuses bool
}

// Selects says whether a target with these labels is enrolled.
func (s Selection) Selects(of map[string]string) bool {
	return s.by != nil && s.by.Matches(labels.Set(of))
}

// RefusesTwins says that also twins of enrolled targets are not enrolled.
func (s Selection) RefusesTwins() bool { return s.refuses }

// String is the same for the same selection only.
func (s Selection) String() string {
	switch {
	case s.refuses:
		return noneOfThem
	case s.by == nil:
		return ""
	case s.by.Empty():
		return allOfThem
	}
	return s.by.String()
}

// SelectionIn is what a resolved status selects of a resource of the Machine API.
func SelectionIn(resolved operatorv1.ManagedBootImages, resource operatorv1.MachineManagerMachineSetsResourceType) (Selection, error) {
	for _, m := range resolved.MachineManagers {
		if m.Resource != resource || m.APIGroup != operatorv1.MachineAPI {
			continue
		}
		switch m.Selection.Mode {
		case operatorv1.All:
			return Selection{by: labels.Everything()}, nil
		case operatorv1.None:
			return Selection{refuses: true}, nil
		case operatorv1.Partial:
			if m.Selection.Partial == nil {
				return Selection{}, nil
			}
			by, err := metav1.LabelSelectorAsSelector(m.Selection.Partial.MachineResourceSelector)
			if err != nil {
				return Selection{}, fmt.Errorf("reading the selector of %s: %w", resource, err)
			}
			return Selection{by: by}, nil
		}
	}
	return Selection{}, nil
}

// SelectionBy is what an annotation of a MachineConfiguration selects; one that is not there selects nothing.
func SelectionBy(annotations map[string]string, annotation string) (Selection, error) {
	said, is := annotations[annotation]
	switch said = strings.TrimSpace(said); {
	case !is:
		return Selection{}, nil
	case said == allOfThem:
		return Selection{by: labels.Everything()}, nil
	case said == noneOfThem:
		return Selection{refuses: true}, nil
	}
	remedy := fmt.Sprintf("annotation %s: set it to %s, %s or a label selector", annotation, allOfThem, noneOfThem)
	if said == "" || strings.EqualFold(said, allOfThem) || strings.EqualFold(said, noneOfThem) {
		return Selection{}, fmt.Errorf("%s, not to %q", remedy, said)
	}
	by, err := labels.Parse(said)
	if err != nil {
		return Selection{}, fmt.Errorf("%s: %w", remedy, err)
	}
	return Selection{by: by}, nil
}
