package main

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestFit_finds_the_line_and_how_much_it_explains(t *testing.T) {
	var squares []point
	for _, size := range moveSizes {
		squares = append(squares, point{float64(size), float64(size * size)})
	}
	for name, c := range map[string]struct {
		points []point
		want   line
		r2     float64
	}{
		"points of a line":                  {[]point{{10, 21}, {20, 41}, {500, 1001}}, line{1, 2}, 1},
		"points that go up and down":        {[]point{{0, 0}, {1, 1}, {2, 0}}, line{1. / 3, 0}, 0},
		"points beside a line":              {[]point{{1, 1}, {2, 3}, {3, 2}, {4, 4}}, line{0.5, 0.8}, 0.64},
		"points that are all of one height": {[]point{{1, 5}, {2, 5}, {3, 5}}, line{5, 0}, 1},
		"two points, which prove nothing":   {[]point{{1, 1}, {2, 2}}, line{}, 0},
		"points above each other":           {[]point{{1, 1}, {1, 2}, {1, 3}}, line{}, 0},
		"squares at the sizes of moves":     {squares, line{-29224.2, 517.825}, 0.9425},
		"no points":                         {nil, line{}, 0},
	} {
		got, r2 := fit(c.points)
		if math.Abs(got.slope-c.want.slope) > 1e-3 || math.Abs(got.intercept-c.want.intercept) > 0.1 || math.Abs(r2-c.r2) > 1e-3 {
			t.Errorf("%s: %+v, %v", name, got, r2)
		}
	}
}

func TestFit_explains_all_of_a_line_and_never_more(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := line{rapid.Float64Range(-100, 100).Draw(t, "intercept"), rapid.Float64Range(0.1, 10).Draw(t, "slope")}
		noise := rapid.Float64Range(0, 50).Draw(t, "noise")
		var exact, noisy []point
		for i := range rapid.IntRange(3, 20).Draw(t, "points") {
			x := float64(i * 10)
			y := want.intercept + want.slope*x
			exact = append(exact, point{x, y})
			noisy = append(noisy, point{x, y + rapid.Float64Range(-noise, noise+1e-9).Draw(t, "off")})
		}
		if got, r2 := fit(exact); r2 < 1-1e-9 || math.Abs(got.slope-want.slope) > 1e-6 {
			t.Fatalf("of %+v: %+v, %v", want, got, r2)
		}
		if _, r2 := fit(noisy); r2 < 0 || r2 > 1 {
			t.Fatalf("R2 is %v", r2)
		}
	})
}

func TestQuantile_is_the_shortest_time_that_its_part_does_not_exceed(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(100-i))
	}
	for _, c := range []struct {
		of   []time.Duration
		part float64
		want time.Duration
	}{
		{hundred, middle, 51},
		{hundred, p95, 96},
		{hundred, p99, 100},
		{hundred, 1, 100},
		{hundred, 0, 1},
		{[]time.Duration{7}, p95, 7},
		{[]time.Duration{3, 1}, middle, 3},
	} {
		if got := quantile(c.of, c.part); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.part, len(c.of), got, c.want)
		}
	}
}

func TestFiguresOf_several_runs_are_medians_and_of_two_the_worse(t *testing.T) {
	late, fast := figureName{what: "late", unit: " ms"}, figureName{what: "fast", least: true}
	runs := func(values ...float64) (all []sample) {
		for _, v := range values {
			all = append(all, sample{figures: map[figureName]float64{late: v, fast: v}})
		}
		return all
	}
	if got := figuresOf(runs(3, 1, 2)); got[late] != 2 || got[fast] != 2 {
		t.Errorf("got %v", got)
	}
	if got := figuresOf(runs(1, 2)); got[late] != 2 || got[fast] != 1 {
		t.Errorf("of two the worse counts, not %v", got)
	}
}

func TestTargets_of_figures_are_limits_from_above_or_below(t *testing.T) {
	late := figureName{what: "late", unit: " ms", clock: true}
	fast := figureName{what: "fast", least: true}
	dear := figureName{what: "dear", unit: " ms", processor: true}
	of := result{figures: map[figureName]float64{late: 2, fast: 0.7, dear: 3}, pace: pace{clock: 2, processor: 3}}
	for _, c := range []struct {
		is   target
		met  bool
		name string
	}{
		{atMost(late, 1), true, "late <= 1 ms"},
		{below(late, 1), false, "late < 1 ms"},
		{atMost(late, 0.9), false, "late <= 0.9 ms"},
		{atMost(dear, 1), true, "dear <= 1 ms"},
		{atMost(dear, 0.9), false, "dear <= 0.9 ms"},
		{atLeast(fast, 0.7), true, "fast >= 0.7"},
		{atLeast(fast, 0.71), false, "fast >= 0.71"},
	} {
		value, known := c.is.value(of, nil)
		if !known || c.is.met(value) != c.met || c.is.name() != c.name {
			t.Errorf("%s: %v, %v", c.is.name(), value, known)
		}
	}
	if _, known := atMost(figureName{what: "other"}, 1).value(of, nil); known {
		t.Error("what was not measured has a value")
	}
}
