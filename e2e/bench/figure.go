package main

import "slices"

// figureName is what a figure says.
type figureName struct {
	what, unit string
	// least says that more of it is better.
	least bool
	// clock says that it is a time by the clock, which is compared with its target on the machine of reference.
	clock bool
	// processor says the same of a time of the processor.
	processor bool
}

// atMost and atLeast make targets of figures.
func atMost(f figureName, limit float64) target  { return f.target(limit, false) }
func below(f figureName, limit float64) target   { return f.target(limit, true) }
func atLeast(f figureName, limit float64) target { return f.target(limit, false) }

func (f figureName) target(limit float64, below bool) target {
	return target{
		what: f.what, limit: limit, unit: f.unit, below: below, least: f.least,
		value:  func(one result, _ results) (float64, bool) { return f.of(one) },
		copied: f.ofCopy().of,
	}
}

// of is the figure of a scenario, on the machine of reference if it is a time.
func (f figureName) of(one result) (float64, bool) {
	value, known := one.figures[f]
	if f.clock {
		value /= or1(one.pace.clock)
	}
	if f.processor {
		value /= or1(one.pace.processor)
	}
	return value, known
}

// ofCopy is the same figure of the proxy that copies bytes. It is told beside the target: what that one misses, no proxy meets
// on the machine.
func (f figureName) ofCopy() figureName {
	f.what += " by the proxy that copies"
	return f
}

// figuresOf are the medians of the runs' figures; of an even number the worse of the two.
func figuresOf(runs []sample) map[figureName]float64 {
	all := map[figureName][]float64{}
	for _, run := range runs {
		for name, value := range run.figures {
			all[name] = append(all[name], value)
		}
	}
	medians := map[figureName]float64{}
	for name, values := range all {
		slices.Sort(values)
		at := len(values) / 2
		if name.least {
			at = (len(values) - 1) / 2
		}
		medians[name] = values[at]
	}
	return medians
}
