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

// The content that is measured most, and what an installation of any may cost.
const (
	coreAWS       = "core-aws"
	fourProviders = "four-providers"
)

// scenarios are all there are, in the order in which they are measured.
func scenarios() []scenario {
	all := []scenario{
		{
			"cold-install", "core and AWS onto an empty cluster, from the start of the operator, with cached images",
			[]target{ratio(1.3), requests(200), rss(80)},
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
			[]target{writes(60), rewrites(1), wall(3)},
			upgrading,
		},
		{
			"drift", "somebody takes the rules out of a Role",
			[]target{wall(1), requests(3)},
			drifting,
		},
		{
			"four-providers", "core, AWS, vSphere and IBM Cloud onto an empty cluster, as in cold-install",
			[]target{ratio(1.3)},
			installing(realContent(fourProviders)),
		},
	}
	smaller := ""
	for _, size := range []int{500, 2000, 5000} {
		name := fmt.Sprintf("synthetic-%d", size)
		targets := []target{ratio(2), rss(80 + float64(size)*12/1024)}
		if smaller != "" {
			targets = append(targets, growth(1.15, smaller))
		}
		all = append(all, scenario{
			name, fmt.Sprintf("%d made-up objects in %d components, as in cold-install", size, syntheticComponents),
			targets, installing(syntheticContent(size)),
		})
		smaller = name
	}
	return append(all, scenario{
		"step", "one pass of the machine with nothing to do and 5000 objects observed: time of the processor",
		[]target{wall(0.005)},
		stepping,
	})
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
