package clusterapi

import (
	"errors"
	"fmt"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// inTheWay is an error that may heal by itself: the other owner may let go.
func inTheWay(report *engine.Report) error {
	if report == nil {
		return nil
	}
	var errs []error
	for _, text := range guards.Texts(collisions(report)) {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}

func collisions(report *engine.Report) []guards.Collision {
	var facts []guards.Collision
	for _, object := range report.Collisions() {
		facts = append(facts, guards.Collision{
			Object: object.Key.String(), Holder: object.Holder,
			Remedy: fmt.Sprintf("delete or rename it, or have it adopted by annotation %s: always in the provider's manifest", engine.AdoptAnnotation),
		})
	}
	return facts
}

func retained(report *engine.PruneReport) []guards.Retained {
	var facts []guards.Retained
	for _, o := range report.Retained {
		facts = append(facts, guards.Retained{Object: o.Key.String(), Why: o.Why, Count: o.Count})
	}
	return facts
}

// wavesOf tells how far a revision is, wave by wave.
func wavesOf(report *engine.Report) []guards.Wave {
	var waves []guards.Wave
	for _, w := range report.Waves {
		wave := guards.Wave{Number: w.Number, Name: w.Name, Component: w.Component, Total: len(w.Objects)}
		for _, o := range w.Objects {
			if o.Complete() {
				wave.Done++
			}
		}
		waves = append(waves, wave)
	}
	return waves
}
