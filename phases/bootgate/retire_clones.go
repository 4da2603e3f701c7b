package bootgate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/golden"
)

// askAgain is how long a clone stays of which the API server knew a user that nothing here shows.
const askAgain = 10 * time.Minute

// RetireClones deletes the clones that nothing needs any more.
var RetireClones = machine.Action[*Pass]{
	Name: "RetireClones", Writes: []string{"MachineConfiguration.status", "ConfigMap", "AWSMachineTemplate", "GCPMachineTemplate"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.retireClones(ctx) },
	Doc: "does what KeepConfig does; adds the golden images to ConfigMap capstan-known-images; deletes infrastructure machine templates that this operator has made as clones, once no plan leads to one and the API server itself knows no MachineSet, MachineDeployment, MachinePool or infrastructure machine that names it. Templates of others are left alone, whatever labels they have.",
}

func (p *Pass) retireClones(ctx context.Context) (machine.Result, error) {
	result, err := p.keepConfig(ctx)
	if err != nil {
		return result, err
	}
	did, lookAgain, err := p.rememberImages(ctx)
	result.Did, result.LookAgain = joined(result.Did, did), lookAgain
	if err != nil {
		return result, err
	}
	did, lookAgain, err = p.retire(ctx)
	result.Did = joined(result.Did, did)
	if result.LookAgain == 0 || lookAgain > 0 && lookAgain < result.LookAgain {
		result.LookAgain = lookAgain
	}
	return result, err
}

func joined(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

// retire asks the API server about clones that nothing here needs, and deletes those that it knows no user of. As long as
// not all targets stand, nobody knows what is needed.
func (p *Pass) retire(ctx context.Context) (did string, lookAgain time.Duration, err error) {
	if !p.Targets.Stand {
		return "", 0, nil
	}
	candidates, lookAgain, err := p.candidates(ctx)
	if len(candidates) == 0 || err != nil {
		return "", lookAgain, err
	}
	used, err := p.named(ctx, candidates)
	if err != nil {
		return "", 0, err
	}
	var deleted []string
	for _, c := range candidates {
		switch is, err := p.delete(ctx, c, used); {
		case err != nil:
			return told(deleted), 0, err
		case is:
			deleted = append(deleted, c.name)
		default:
			p.memory.inUse[c.name], lookAgain = p.Now(), askAgain
		}
	}
	return told(deleted), lookAgain, nil
}

func told(deleted []string) string {
	if len(deleted) == 0 {
		return ""
	}
	return "deleted the clones " + strings.Join(deleted, ", ")
}

// clone is a template with the label of clones, whoever made it.
type clone struct {
	provider Provider
	name     string
}

// candidates are templates labelled as clones of which no plan, no target and no machine is known here to need them, and after
// how long to ask about those that have a user all the same.
func (p *Pass) candidates(ctx context.Context) (all []clone, lookAgain time.Duration, err error) {
	known := map[string]bool{}
	for _, s := range p.standings {
		known[s.Clone], known[s.Template] = true, true
	}
	there, now, inUse := []clone(nil), p.Now(), map[string]time.Time{}
	for _, provider := range Providers {
		labelled, err := p.labelled(ctx, provider)
		if err != nil || len(labelled) == 0 {
			if err != nil {
				return nil, 0, err
			}
			continue
		}
		machines := metadataList(provider.Machine)
		if err := p.Apart.List(ctx, machines, client.InNamespace(p.CAPINamespace)); err != nil {
			return nil, 0, fmt.Errorf("listing %s: %w", provider.Machine.Kind, err)
		}
		for i := range machines.Items {
			known[machines.Items[i].Annotations[ClonedFrom]] = true
		}
		there = append(there, labelled...)
	}
	for _, c := range there {
		asked, is := p.memory.inUse[c.name]
		switch wait := asked.Add(askAgain).Sub(now); {
		case known[c.name]:
		case is && wait > 0 && wait <= askAgain:
			inUse[c.name] = asked
			if lookAgain == 0 || wait < lookAgain {
				lookAgain = wait
			}
		default:
			all = append(all, c)
		}
	}
	p.memory.inUse = inUse
	return all, lookAgain, nil
}

// labelled are the templates of a provider that are labelled as clones.
func (p *Pass) labelled(ctx context.Context, provider Provider) (all []clone, err error) {
	templates := metadataList(provider.Template)
	if err := p.Apart.List(ctx, templates, client.InNamespace(p.CAPINamespace), client.HasLabels{golden.CloneOfLabel}); err != nil {
		return nil, fmt.Errorf("listing %s: %w", provider.Template.Kind, err)
	}
	for i := range templates.Items {
		all = append(all, clone{provider: provider, name: templates.Items[i].Name})
	}
	return all, nil
}

// delete deletes a template that this operator has made, if nobody names it and it is still as it was looked at.
func (p *Pass) delete(ctx context.Context, c clone, used map[string]bool) (gone bool, err error) {
	if used[c.name] || !p.Board.Retire(c.name) {
		return false, nil
	}
	defer p.Board.Retired(c.name)
	template := &unstructured.Unstructured{}
	template.SetGroupVersionKind(c.provider.Template)
	is, err := read(ctx, p.Untyped, client.ObjectKey{Namespace: p.CAPINamespace, Name: c.name}, template)
	if !is || err != nil {
		return !is, err
	}
	if !golden.IsOurs(template) {
		return false, nil
	}
	preconditions := client.Preconditions{UID: ptr.To(template.GetUID()), ResourceVersion: ptr.To(template.GetResourceVersion())}
	switch err = p.Deletes.Delete(ctx, template, preconditions); {
	case apierrors.IsConflict(err):
		return false, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("deleting %s %s: %w", c.provider.Template.Kind, c.name, err)
	}
	return true, nil
}

// named are those of the candidates that somebody names, as the API server itself says.
func (p *Pass) named(ctx context.Context, candidates []clone) (map[string]bool, error) {
	used := map[string]bool{}
	for _, kind := range templateUsers {
		err := p.pages(ctx, kind, func(o *unstructured.Unstructured) {
			name, _, _ := unstructured.NestedString(o.Object, "spec", "template", "spec", "infrastructureRef", "name")
			used[name] = true
		})
		if apierrors.IsNotFound(err) && kind == MachinePoolKind { // a kind that not every Cluster API serves
			err = nil
		}
		if err != nil {
			return nil, err
		}
	}
	for _, provider := range Providers {
		if !slices.ContainsFunc(candidates, func(c clone) bool { return c.provider == provider }) {
			continue
		}
		err := p.pages(ctx, provider.Machine, func(o *unstructured.Unstructured) { used[o.GetAnnotations()[ClonedFrom]] = true })
		if err != nil {
			return nil, err
		}
	}
	return used, nil
}
