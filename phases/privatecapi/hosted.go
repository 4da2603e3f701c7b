package privatecapi

import (
	"slices"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
)

// mark is a patch of the annotations of the HostedCluster.
func (p *Pass) mark(values map[string]any) *Write { return annotate(HostedClusters, p.Hosted, values) }

// legacyOn are the annotations by which the old operator gets a HostedCluster; what somebody else has put into the scope waits.
func (p *Pass) legacyOn() map[string]any {
	now := p.Hosted.GetAnnotations()
	if now[guards.ScopeAnnotation] == guards.ScopeLegacy {
		return map[string]any{}
	}
	values := map[string]any{guards.ScopeAnnotation: guards.ScopeLegacy, guards.PreviousScopeAnnotation: nil}
	if other, is := now[guards.ScopeAnnotation]; is {
		values[guards.PreviousScopeAnnotation] = other
	}
	return values
}

// legacyOff are the annotations by which the old operator loses it.
func (p *Pass) legacyOff() map[string]any {
	now := p.Hosted.GetAnnotations()
	if now[guards.ScopeAnnotation] != guards.ScopeLegacy {
		return map[string]any{}
	}
	values := map[string]any{guards.ScopeAnnotation: nil, guards.PreviousScopeAnnotation: nil}
	if waits, is := now[guards.PreviousScopeAnnotation]; is {
		values[guards.ScopeAnnotation] = waits
	}
	return values
}

// restage writes how far the move has come.
func (p *Pass) restage(stage guards.Stage, reason guards.Reason) *Write {
	companion := p.facts.Marks.Companion
	companion.Stage, companion.Reason = stage, reason
	companion.Ran = companion.Ran || stage != guards.Moving && stage != guards.Undone
	return p.mark(map[string]any{guards.CompanionAnnotation: companion.Text(), guards.MigrationAnnotation: guards.MarkTrue})
}

// finalizers are those of the HostedCluster with ours, or without.
func (p *Pass) finalizers(ours bool) []any {
	list := slices.DeleteFunc(slices.Clone(p.Hosted.GetFinalizers()), func(f string) bool { return f == guards.Finalizer })
	if ours {
		list = append(list, guards.Finalizer)
	}
	out := make([]any, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
