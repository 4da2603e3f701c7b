package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// scenario is something that Capstan does, and what it may cost.
type scenario struct {
	name, doc string
	targets   []target
	// measure makes as many samples as the bench is told to.
	measure func(context.Context, *bench) ([]sample, error)
}

// The contents made of real providers; the first is measured most.
const (
	coreAWS       = "core-aws"
	fourProviders = "four-providers"
)

// upgradeWrites is what an upgrade writes beside its objects, each of which is told its new revision:
// 2 inventories, 2 times status.revisions, 4 times record and conditions, an Event and the flight recorder.
const upgradeWrites = 2 + 2 + 4 + 1 + 1

// scenarios are all there are, in the order in which they are measured.
func scenarios() []scenario {
	all := []scenario{
		{
			"cold-install", "core and AWS onto an empty cluster, from the start of the operator, with cached images",
			[]target{ratio(1.2), requests(200), rss(64)},
			installing(realContent(coreAWS)),
		},
		{
			"restart", "the operator stops and starts again with everything installed",
			[]target{requests(40), writes(0), wall(2)},
			restarting,
		},
		{
			"at-rest", "two minutes in which nothing happens",
			[]target{requests(0)},
			resting,
		},
		{
			"upgrade", "a release that changes one Deployment of core",
			[]target{writesBesideObjects(upgradeWrites), rewrites(1), ratio(1.5)},
			upgrading,
		},
		{
			"drift", "somebody takes the rules out of a Role",
			[]target{wall(1), requests(3)},
			drifting,
		},
		{
			"four-providers", "core, AWS, vSphere and IBM Cloud onto an empty cluster, as in cold-install",
			[]target{ratio(1.25)},
			installing(realContent(fourProviders)),
		},
		bootedScenario(),
	}
	smaller := ""
	for _, size := range []int{500, 2000, 5000} {
		name := fmt.Sprintf("synthetic-%d", size)
		targets := []target{ratio(1.6), rss(80 + float64(size)*12/1024)}
		if smaller != "" {
			targets = append(targets, growth(1.15, smaller))
		}
		all = append(all, scenario{
			name, fmt.Sprintf("%d made-up objects in %d components, as in cold-install", size, syntheticComponents),
			targets, installing(syntheticContent(size)),
		})
		smaller = name
	}
	all = append(all, scenario{
		"step", "one pass of the machine with nothing to do and 5000 objects observed: time of the processor",
		[]target{processor(0.005)},
		stepping,
	}, scenario{
		"resync", "everything is looked at anew, as every ten minutes, with 5000 objects observed: time of the processor",
		[]target{processor(0.05)},
		resyncing,
	})
	return slices.Concat(all, planScenarios(), checkerScenarios(), bootScenarios(), proxyScenarios(), privateScenarios(), guestScenarios())
}

// planScenarios are those of what an administrator waits for.
func planScenarios() []scenario {
	return []scenario{{
		"plan", "capstan plan of a release that changes one Deployment of core, with core and AWS installed and the images cached",
		[]target{wall(5)},
		planning(changedCore),
	}, {
		fmt.Sprintf("plan-%d", plannedObjects), fmt.Sprintf("capstan plan of %d made-up objects that come to an empty cluster, images cached", plannedObjects),
		[]target{wall(15)},
		planning(allNew),
	}}
}

// checkerScenarios are those of CRD compatibility.
func checkerScenarios() []scenario {
	var all []scenario
	for _, c := range []struct {
		kib   int
		limit float64
	}{{300, 0.05}, {1024, 0.2}} {
		all = append(all, scenario{
			fmt.Sprintf("crd-admission-%d", c.kib), fmt.Sprintf("%d schema updates of a definition of %d KiB that a requirement denies to break: the 99th of 100", admissionWrites, c.kib),
			[]target{added(c.limit)},
			admission{kib: c.kib, crds: deny, quantile: p99, asks: true, write: describing(subject)}.admitting,
		})
	}
	for _, c := range []struct {
		kib   int
		limit float64
	}{{20, 0.002}, {1024, 0.1}} {
		for _, w := range []struct {
			name, doc string
			write     func(context.Context, *bare, int) error
		}{{"label", "a label", labelling}, {"unlisted", "the schema, though nobody has a requirement of it,", describing(other)}} {
			all = append(all, scenario{
				fmt.Sprintf("crd-admission-%s-%d", w.name, c.kib), fmt.Sprintf("%d updates that change %s of a definition of %d KiB: the middle one", admissionWrites, w.doc, c.kib),
				[]target{added(c.limit), questions(0)},
				admission{kib: c.kib, crds: deny, quantile: middle, write: w.write}.admitting,
			})
		}
	}
	return append(all, scenario{
		"object-admission", fmt.Sprintf("%d creations of an object of %d KiB that a requirement checks and prunes: the 99th of 100", admissionWrites, objectSize),
		[]target{added(0.01)},
		admission{kib: objectDefinition, objects: deny, quantile: p99, asks: true, write: creating}.admitting,
	}, scenario{
		"object-admission-first", "the first such creation after the checker was started again",
		[]target{wall(1)},
		firsts,
	}, scenario{
		"requirements-200", fmt.Sprintf("operator and checker start with %d requirements of 1 MiB: until all are judged", manyRequirements),
		[]target{wall(120), ready(30), rss(400)},
		judging,
	}, scenario{
		"requirements-200-at-rest", "ten minutes in which nothing happens, with those",
		[]target{requests(0)},
		restingMany,
	})
}

// bootScenarios are those of boot images.
func bootScenarios() []scenario {
	sets, clusterAPI := bootWorld{machineAPI: 1000}, bootWorld{clusterAPI: 300}
	return []scenario{
		{
			"boot-images-1000", "a release with other golden images: 1000 MachineSets of Machine API on AWS, until all have theirs",
			[]target{ratio(1.5), requests(1120), rss(targetsMemory(sets))},
			moving(sets),
		},
		{
			"boot-images-clusterapi-300", "the same of 300 MachineSets of Cluster API with a template each",
			[]target{ratio(1.5), requests(2*300 + 80), rss(targetsMemory(clusterAPI))},
			moving(clusterAPI),
		},
		{
			"boot-images-at-rest", "two minutes in which nothing happens to 1000 targets of both APIs",
			[]target{requests(0), rss(targetsMemory(manyTargets))},
			restingTargets,
		},
		{
			"boot-images-noise", "other replicas, field managers and status of all of those: time of the processor for an edit",
			[]target{passes(0), requests(0), processor(0.0003)},
			noising,
		},
		{
			"boot-images-revert", "somebody sets one of 1000 targets back to the image of the release before",
			[]target{wall(1), requests(4), passes(revertPasses)},
			reverting,
		},
		{
			"boot-images-restart", "the operator stops and starts again with 1000 targets of both APIs that are Current",
			[]target{requestsBeyond(40 + manyPages + manyStubs), writes(0), wall(2)},
			restartingTargets,
		},
	}
}

// targetsMemory is 80 MiB, and 24 KiB a target.
func targetsMemory(w bootWorld) float64 { return 80 + float64(w.targets())*24/1024 }

const (
	// manyPages are those that targets are listed in, 500 in each: two of Machine API and one of Cluster API. manyStubs are the
	// Secrets that they start from.
	manyPages, manyStubs = 3, 2
	// revertPasses are those of one target: five moves, what is waited for between them, and the record that may be late.
	revertPasses = 12
)

// ratioLimit is the target for the ratio to the floor, if there is one.
func (s scenario) ratioLimit() (float64, bool) {
	for _, t := range s.targets {
		if t.what == ratioTarget {
			return t.limit, true
		}
	}
	return 0, false
}

// choose takes the scenarios of the given names, or else those whose names begin so.
func choose(names string) ([]scenario, error) {
	all := scenarios()
	if names == "" {
		return all, nil
	}
	var chosen []scenario
	for _, name := range strings.Split(names, ",") {
		exact := slices.ContainsFunc(all, func(s scenario) bool { return s.name == name })
		found := slices.DeleteFunc(slices.Clone(all), func(s scenario) bool { return exact && s.name != name || !strings.HasPrefix(s.name, name) })
		if name == "" || len(found) == 0 {
			var known []string
			for _, s := range all {
				known = append(known, s.name)
			}
			return nil, fmt.Errorf("no scenario begins with %q: there are %s", name, strings.Join(known, ", "))
		}
		chosen = append(chosen, found...)
	}
	return slices.DeleteFunc(all, func(s scenario) bool {
		return !slices.ContainsFunc(chosen, func(c scenario) bool { return c.name == s.name })
	}), nil
}
