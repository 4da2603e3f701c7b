package main

import (
	"fmt"
	"strconv"
)

// target is a limit that a figure must not exceed.
type target struct {
	what  string
	limit float64
	unit  string
	// below means that the limit itself is too much.
	below bool
	// value is the figure; known is false when it cannot be told, because a
	// scenario that it is compared with was not measured.
	value func(one result, all results) (value float64, known bool)
}

func (t target) met(value float64) bool { return value < t.limit || value == t.limit && !t.below }

func (t target) show(value float64) string {
	return strconv.FormatFloat(rounded(value, 10000), 'f', -1, 64) + t.unit
}

func (t target) name() string {
	sign := "<="
	if t.below {
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

func ratio(limit float64) target {
	return target{what: "ratio", limit: limit, value: figureOf(func(r result) float64 { return r.Ratio })}
}

func wall(limit float64) target {
	return target{what: "time", limit: limit, unit: " s", below: true, value: figureOf(func(r result) float64 { return r.Seconds })}
}

func requests(limit float64) target {
	return target{what: "requests", limit: limit, value: figureOf(func(r result) float64 { return float64(r.Requests) })}
}

func writes(limit float64) target {
	return target{what: "writes", limit: limit, value: figureOf(func(r result) float64 { return float64(r.Writes) })}
}

func rewrites(limit float64) target {
	return target{what: "writes of an unchanged object", limit: limit, value: figureOf(func(r result) float64 { return float64(r.rewrites) })}
}

func rss(limit float64) target {
	return target{what: "RSS", limit: limit, unit: " MiB", value: figureOf(func(r result) float64 { return r.RSSMiB })}
}

// growth is how many times as long an object takes as in a smaller scenario.
func growth(limit float64, smaller string) target {
	return target{what: "time per object, times that of " + smaller, limit: limit, value: func(one result, all results) (float64, bool) {
		other, measured := all.named(smaller)
		if !measured || other.Seconds == 0 || one.Objects == 0 {
			return 0, false
		}
		return one.Seconds / float64(one.Objects) / (other.Seconds / float64(other.Objects)), true
	}}
}
