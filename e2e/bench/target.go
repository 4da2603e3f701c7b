package main

import (
	"cmp"
	"fmt"
	"strconv"
)

// target is a limit that a figure must not exceed.
type target struct {
	what  string
	limit float64
	unit  string
	// below means that the limit itself is too much, least that anything below it is.
	below, least bool
	// value is the figure; known is false when it cannot be told, because a
	// scenario that it is compared with was not measured.
	value func(one result, all results) (value float64, known bool)
	// copied is the same figure of the proxy that copies bytes, where there is one; may be nil.
	copied func(one result) (value float64, known bool)
}

func (t target) met(value float64) bool {
	if t.least {
		return value >= t.limit
	}
	return value < t.limit || value == t.limit && !t.below
}

func (t target) show(value float64) string {
	return strconv.FormatFloat(rounded(value, 10000), 'f', -1, 64) + t.unit
}

// beside tells the figure of the proxy that copies bytes.
func (t target) beside(one result) string {
	if t.copied == nil {
		return ""
	}
	value, known := t.copied(one)
	if !known {
		return ""
	}
	return fmt.Sprintf(" (a proxy that copies: %s)", t.show(value))
}

func (t target) name() string {
	sign := "<="
	switch {
	case t.least:
		sign = ">="
	case t.below:
		sign = "<"
	}
	return fmt.Sprintf("%s %s %s", t.what, sign, t.show(t.limit))
}

func (t target) verdict(value float64) string {
	if t.met(value) {
		return t.name() + " ok"
	}
	return t.name() + " MISSED"
}

// figureOf makes a target about one scenario's own figure.
func figureOf(of func(result) float64) func(result, results) (float64, bool) {
	return func(one result, _ results) (float64, bool) { return of(one), true }
}

const ratioTarget = "ratio"

func ratio(limit float64) target {
	return target{what: ratioTarget, limit: limit, value: figureOf(func(r result) float64 { return r.Ratio })}
}

// wall and processor are about seconds on the machine of reference.
func wall(limit float64) target {
	return target{what: "time", limit: limit, unit: " s", below: true, value: figureOf(func(r result) float64 { return r.Seconds / or1(r.pace.clock) })}
}

// wallBesideWaiting is about seconds of which only those are set to the machine of reference in which something was computed.
func wallBesideWaiting(limit float64) target {
	t := wall(limit)
	t.value = figureOf(func(r result) float64 { return r.waited + (r.Seconds-r.waited)/or1(r.pace.clock) })
	return t
}

func processor(limit float64) target {
	return target{what: "time of the processor", limit: limit, unit: " s", below: true, value: figureOf(func(r result) float64 { return r.Seconds / or1(r.pace.processor) })}
}

// added is the time beyond the floor, on the machine of reference.
func added(limit float64) target {
	return target{what: "time beyond the floor", limit: limit, unit: " s", value: figureOf(func(r result) float64 { return (r.Seconds - r.FloorSeconds) / or1(r.pace.clock) })}
}

func ready(limit float64) target {
	return target{what: "the checker takes requests after", limit: limit, unit: " s", value: figureOf(func(r result) float64 { return r.ready / or1(r.pace.clock) })}
}

func questions(limit float64) target {
	return target{what: "questions to the checker", limit: limit, value: figureOf(func(r result) float64 { return float64(r.questions) })}
}

func passes(limit float64) target {
	return target{what: "passes", limit: limit, value: figureOf(func(r result) float64 { return float64(r.passes) })}
}

func or1(pace float64) float64 { return cmp.Or(pace, 1) }

func requests(limit float64) target {
	return target{what: "requests", limit: limit, value: figureOf(func(r result) float64 { return float64(r.Requests) })}
}

// requestsBeyond are those beyond the ones of the same operator without what the scenario is about.
func requestsBeyond(limit float64) target {
	return target{what: "requests for boot images", limit: limit, value: figureOf(func(r result) float64 { return float64(r.Requests - r.without) })}
}

func writes(limit float64) target {
	return target{what: "writes", limit: limit, value: figureOf(func(r result) float64 { return float64(r.Writes) })}
}

// writesBesideObjects leaves out one write of each object, and the two of record and
// conditions that tell people every two seconds how far a change that takes longer is.
func writesBesideObjects(limit float64) target {
	return target{what: "writes beside one an object and two every 2 s", limit: limit, value: figureOf(func(r result) float64 {
		return float64(r.Writes - r.Objects - 2*int(r.Seconds/2))
	})}
}

func rewrites(limit float64) target {
	return target{what: "writes of an unchanged object", limit: limit, value: figureOf(func(r result) float64 { return float64(r.rewrites) })}
}

func rss(limit float64) target {
	return target{what: "RSS", limit: limit, unit: " MiB", value: figureOf(func(r result) float64 { return r.RSSMiB })}
}

// growth is how many times as large the ratio to the floor is as in a smaller
// scenario: what each object more costs Capstan, but not the API server.
func growth(limit float64, smaller string) target {
	return target{what: "ratio, times that of " + smaller, limit: limit, value: func(one result, all results) (float64, bool) {
		other, measured := all.named(smaller)
		if !measured || other.Ratio == 0 {
			return 0, false
		}
		return one.Ratio / other.Ratio, true
	}}
}
