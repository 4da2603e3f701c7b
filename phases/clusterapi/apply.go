package clusterapi

import (
	"context"
	"errors"
	"fmt"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	"github.com/capstan-capi/capstan/phases/engine"
)

// applyRevision applies the newest revision as far as its gates allow. The
// current one is kept at the same time, except for what the newest has taken.
func (p *Pass) applyRevision(ctx context.Context) error {
	kept := p.keepCurrent(ctx)
	if p.latest == nil {
		return errors.Join(failure(p.latestErr), kept)
	}
	report, err := p.Engine.Apply(ctx, p.latest)
	p.log("applying", report)
	return errors.Join(collisions(report), err, kept)
}

// recordCurrent writes that the latest revision has been fully applied.
func (p *Pass) recordCurrent(ctx context.Context) error {
	if p.latest == nil {
		return nil
	}
	name := operatorv1alpha1.RevisionName(p.latest.Name)
	return p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) bool { return makeCurrent(api, name) })
}

// trimRevisions forgets what came before the latest revision.
func (p *Pass) trimRevisions(ctx context.Context) error {
	if p.latest == nil {
		return nil
	}
	err := p.writeStatus(ctx, func(api *operatorv1alpha1.ClusterAPI) bool { return trim(api, p.latest.Number) })
	if err != nil {
		return err
	}
	last := p.pruned
	if last.report == nil || last.number != p.latest.Number {
		return errors.New("what older revisions left behind has not been looked at yet")
	}
	return p.Engine.Forget(ctx, p.latest, last.report)
}

// collisions is an error that may heal by itself: the other owner may let go.
func collisions(report *engine.Report) error {
	if report == nil {
		return nil
	}
	var errs []error
	for _, text := range collisionTexts(report) {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

func collisionTexts(report *engine.Report) []string {
	var texts []string
	for _, object := range report.Collisions() {
		texts = append(texts, fmt.Sprintf("%s exists and belongs to %s; delete or rename it, or have it adopted by annotation %s: always in the provider's manifest",
			object.Key, object.Holder, engine.AdoptAnnotation))
	}
	return texts
}

// failure is err unless it only says that something is on its way.
func failure(err error) error {
	var notYet *notYetError
	if errors.As(err, &notYet) {
		return nil
	}
	return err
}
