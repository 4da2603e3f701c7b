package bootgate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/golden"
)

// askAgain is how long a clone stays of which the API server knew a user that nothing here shows.
const askAgain = 10 * time.Minute

// RetireClones deletes the clones that nothing needs any more.
var RetireClones = machine.Action[*Pass]{
	Name: "RetireClones", Writes: []string{"MachineConfiguration.status", "ConfigMap", "AWSMachineTemplate", "GCPMachineTemplate"},
	Run: func(ctx context.Context, p *Pass) (machine.Result, error) { return p.retireClones(ctx) },
	Doc: "does what KeepConfig does; deletes infrastructure machine templates that this operator has made as clones, once they have been as they are for two minutes, no plan leads to one and the API server itself knows no MachineSet, MachineDeployment, MachinePool or infrastructure machine that names it. Templates of others are left alone, whatever labels they have. Deletes: AWSMachineTemplate and GCPMachineTemplate that are clones.",
}

func (p *Pass) retireClones(ctx context.Context) (machine.Result, error) {
	result, err := p.keep(ctx)
	if err != nil {
		return result, err
	}
	did, lookAgain, err := p.retire(ctx)
	result.Did, result.LookAgain = joined(result.Did, did), sooner(result.LookAgain, lookAgain)
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
	there, err := p.labelled(ctx)
	if err != nil {
		return "", 0, err
	}
	p.sights(there)
	if len(there) == 0 || !p.Targets.Stand {
		return "", 0, nil
	}
	candidates, lookAgain, err := p.candidates(ctx, there)
	if err != nil {
		return "", 0, err
	}
	ours, err := p.ours(ctx, candidates)
	if len(ours) == 0 || err != nil {
		return "", lookAgain, err
	}
	used, err := p.named(ctx, ours)
	if err != nil {
		return "", 0, err
	}
	var deleted []string
	for _, template := range ours {
		name := template.GetName()
		if used[name] {
			p.memory.inUse[name], lookAgain = p.Now(), sooner(lookAgain, askAgain)
			continue
		}
		is, err := p.delete(ctx, template)
		if err != nil {
			return told(deleted), 0, err
		}
		if is {
			deleted = append(deleted, name)
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
	kind schema.GroupVersionKind
	name string
	of   edition
}

// sighting is an edition of a clone, and since when it is known. Lost, a clone stays for longer.
type sighting struct {
	of    edition
	since time.Time
}

// sights notes which clones are as they were before.
func (p *Pass) sights(there []clone) {
	seen, now := map[string]sighting{}, p.Steady()
	for _, c := range there {
		s, is := p.memory.seen[c.name]
		if !is || s.of != c.of {
			s = sighting{of: c.of, since: now}
		}
		seen[c.name] = s
	}
	p.memory.seen = seen
}

// candidates are those of the clones that have been as they are for long enough and of which no plan, no target and no machine is
// known here to need them, and after how long to look again at others.
func (p *Pass) candidates(ctx context.Context, there []clone) (all []clone, lookAgain time.Duration, err error) {
	needed, err := p.needed(ctx)
	if err != nil {
		return nil, 0, err
	}
	now, steady, inUse, foreign := p.Now(), p.Steady(), map[string]time.Time{}, map[string]edition{}
	for _, c := range there {
		asked, is := p.memory.inUse[c.name]
		alone := p.memory.seen[c.name].since.Add(bootboard.AloneFor).Sub(steady)
		switch wait := asked.Add(askAgain).Sub(now); {
		case needed[c.name]:
		case p.memory.foreign[c.name] == c.of:
			foreign[c.name] = c.of
		case is && wait > 0 && wait <= askAgain: // longer only if the clock was set back
			inUse[c.name] = asked
			lookAgain = sooner(lookAgain, wait)
		case alone > 0:
			lookAgain = sooner(lookAgain, alone)
		default:
			all = append(all, c)
		}
	}
	p.memory.inUse, p.memory.foreign = inUse, foreign
	return all, lookAgain, nil
}

// labelled are the templates that are labelled as clones.
func (p *Pass) labelled(ctx context.Context) (all []clone, err error) {
	for _, provider := range Providers {
		templates := metadataList(provider.Template)
		if err := p.Apart.List(ctx, templates, client.InNamespace(p.CAPINamespace), client.HasLabels{golden.CloneOfLabel}); err != nil {
			return nil, fmt.Errorf("listing %s: %w", provider.Template.Kind, err)
		}
		for i := range templates.Items {
			all = append(all, clone{kind: provider.Template, name: templates.Items[i].Name, of: editionOf(&templates.Items[i])})
		}
	}
	return all, nil
}

// needed are the templates that are known here to be needed.
func (p *Pass) needed(ctx context.Context) (map[string]bool, error) {
	needed := map[string]bool{}
	for _, s := range p.standings {
		needed[s.Clone], needed[s.Template] = true, true
	}
	for _, provider := range Providers {
		machines := metadataList(provider.Machine)
		if err := p.Apart.List(ctx, machines, client.InNamespace(p.CAPINamespace)); err != nil {
			return nil, fmt.Errorf("listing %s: %w", provider.Machine.Kind, err)
		}
		for i := range machines.Items {
			needed[machines.Items[i].Annotations[ClonedFrom]] = true
		}
	}
	return needed, nil
}

// ours are the templates that this operator has made, as the API server has them, which is as they have been for long enough.
// Others are not asked about again, as long as they stay as they are.
func (p *Pass) ours(ctx context.Context, candidates []clone) (all []*unstructured.Unstructured, err error) {
	for _, c := range candidates {
		template := &unstructured.Unstructured{}
		template.SetGroupVersionKind(c.kind)
		is, err := read(ctx, p.Untyped, client.ObjectKey{Namespace: p.CAPINamespace, Name: c.name}, template)
		switch {
		case err != nil:
			return nil, err
		case is && editionOf(template) != c.of: // what it is now is seen soon
		case is && golden.IsOurs(template):
			all = append(all, template)
		case is:
			p.memory.foreign[c.name] = editionOf(template)
		}
	}
	return all, nil
}

// named are the templates that somebody names, as the API server itself says: by any set or pool, or by
// machines of the providers that these are of.
func (p *Pass) named(ctx context.Context, templates []*unstructured.Unstructured) (map[string]bool, error) {
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
		if !slices.ContainsFunc(templates, func(t *unstructured.Unstructured) bool { return t.GroupVersionKind() == provider.Template }) {
			continue
		}
		err := p.pages(ctx, provider.Machine, func(o *unstructured.Unstructured) { used[o.GetAnnotations()[ClonedFrom]] = true })
		if err != nil {
			return nil, err
		}
	}
	return used, nil
}

// delete deletes a template that is still as it was when nobody named it, unless a plan leads to it by now.
func (p *Pass) delete(ctx context.Context, template *unstructured.Unstructured) (gone bool, err error) {
	if !p.Board.Retire(template.GetName()) {
		return false, nil
	}
	defer p.Board.Retired(template.GetName())
	preconditions := client.Preconditions{UID: ptr.To(template.GetUID()), ResourceVersion: ptr.To(template.GetResourceVersion())}
	switch err = p.Deletes.Delete(ctx, template, preconditions); {
	case apierrors.IsConflict(err):
		return false, nil
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("deleting %s %s: %w", template.GetKind(), template.GetName(), err)
	}
	return true, nil
}
