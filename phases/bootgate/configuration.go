package bootgate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	guards "github.com/capstan-capi/capstan/guards/bootgate"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// multi is the architecture of a release that has all of them.
const multi = configv1.ClusterVersionArchitectureMulti

// claimants begins the names of field managers that manage boot images of Machine API themselves.
const claimants = "machine-config-"

// freeing has whoever claims the boot images of Machine API own nothing any more.
const freeing = `oc patch machineconfiguration cluster --subresource=status --type=merge -p '{"status":{"managedBootImagesStatus":null,"bootImageSkewEnforcementStatus":null}}'`

// config is the MachineConfiguration, for guards.
func (p *Pass) config() guards.Configuration {
	config, platform := p.world.config, p.world.platform()
	c := guards.Configuration{Seen: true, Absent: config == nil}
	if config == nil {
		return c
	}
	if p.MachineAPI {
		p.claimedBy = claimant(config)
		p.Ours = p.claimedBy == ""
	}
	c.Ours, c.Known = p.Ours, !p.Ours || platform != ""
	c.Generation, c.Observed = config.Generation, config.Status.ObservedGeneration
	if p.Ours && c.Known {
		p.resolved = Resolve(config.Spec.ManagedBootImages, platform)
		c.Differs = differing(p.resolved, config.Status.ManagedBootImagesStatus)
	}
	c.Problems = p.problems()
	return c
}

// problems are what an administrator has to mend.
func (p *Pass) problems() []string {
	var all []string
	if p.claimedBy != "" {
		all = append(all, fmt.Sprintf("field manager %s owns status.managedBootImagesStatus, so the boot images of Machine API are left to it: "+
			"take MachineAPI out of --boot-images, or end what writes it and run %s", p.claimedBy, freeing))
	}
	_, problems := p.enrols()
	return append(all, problems...)
}

// enrols are the selections of all kinds whose boot images this operator looks after. One that cannot be read selects nothing, and no
// twins. Those of Machine API are as the status says.
func (p *Pass) enrols() (map[golden.Kind]bootboard.Selection, []string) {
	all, problems := map[golden.Kind]bootboard.Selection{}, []string(nil)
	config := p.world.config
	if config == nil {
		return all, nil
	}
	add := func(kind golden.Kind, selection Selection, err error) {
		if err != nil {
			problems = append(problems, err.Error())
			all[kind] = Selection{refuses: true} // until it can be read, nothing more is enrolled
			return
		}
		all[kind] = selection
	}
	// Where Machine API is somebody else's, no target is of it, but what has taken over from one of it is enrolled with it.
	resources := map[golden.Kind]operatorv1.MachineManagerMachineSetsResourceType{golden.MachineSets: operatorv1.MachineSets}
	if p.MachineAPI {
		resources[golden.ControlPlaneMachineSets] = operatorv1.ControlPlaneMachineSets
	}
	for kind, resource := range resources {
		selection, err := SelectionIn(config.Status.ManagedBootImagesStatus, resource)
		add(kind, selection, err)
	}
	if p.ClusterAPI {
		for kind, annotation := range map[golden.Kind]string{
			golden.CAPIMachineSets: MachineSetsAnnotation, golden.MachineDeployments: MachineDeploymentsAnnotation,
		} {
			selection, err := SelectionBy(config.Annotations, annotation)
			add(kind, selection, err)
		}
	}
	slices.Sort(problems)
	return all, problems
}

// differing says what of a status is not what the spec resolves to, empty for nothing. The order has no meaning.
func differing(resolved, status operatorv1.ManagedBootImages) string {
	key := func(m operatorv1.MachineManager) string { return string(m.Resource) + "." + string(m.APIGroup) }
	by := map[string]operatorv1.MachineManagerSelector{}
	for _, m := range status.MachineManagers {
		by[key(m)] = m.Selection
	}
	var texts []string
	for _, m := range resolved.MachineManagers {
		is, found := by[key(m)]
		delete(by, key(m))
		switch {
		case !found:
			texts = append(texts, fmt.Sprintf("%s is not there, and resolves to %s", m.Resource, m.Selection.Mode))
		case !equality.Semantic.DeepEqual(is, m.Selection):
			texts = append(texts, fmt.Sprintf("%s is %s, and resolves to %s", m.Resource, spelt(is), spelt(m.Selection)))
		}
	}
	for other := range by {
		texts = append(texts, other+" is in nobody's spec")
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}

func spelt(s operatorv1.MachineManagerSelector) string {
	if s.Partial == nil {
		return string(s.Mode)
	}
	return string(s.Mode) + " " + metav1.FormatLabelSelector(s.Partial.MachineResourceSelector)
}

// claimant is the field manager of somebody else who owns what the spec resolves to, empty for none.
func claimant(config *operatorv1.MachineConfiguration) string {
	for _, entry := range config.ManagedFields {
		if !strings.HasPrefix(entry.Manager, claimants) {
			continue
		}
		if _, owns := fieldsOf(entry, "f:status")["f:managedBootImagesStatus"]; owns {
			return entry.Manager
		}
	}
	return ""
}

// fieldsOf are the fields below a path that an entry owns.
func fieldsOf(entry metav1.ManagedFieldsEntry, path ...string) map[string]json.RawMessage {
	if entry.FieldsV1 == nil {
		return nil
	}
	raw := json.RawMessage(entry.FieldsV1.GetRawBytes())
	for _, field := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return nil
		}
		raw = fields[field]
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	return fields
}
