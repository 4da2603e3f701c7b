package main

import "math"

// point is one measurement of something that depends on something else.
type point struct{ x, y float64 }

// line is y = intercept + slope * x.
type line struct{ intercept, slope float64 }

// fit is the line with the least squares of what points lie off it, and which part of the variance of y it explains: R2, from 0
// to 1. Fewer than three points, or points of one x, fit no line: R2 is 0. If y never varies, a level line explains all.
func fit(points []point) (of line, r2 float64) {
	n := float64(len(points))
	var meanX, meanY float64
	for _, p := range points {
		meanX += p.x / n
		meanY += p.y / n
	}
	var xx, xy, yy float64
	for _, p := range points {
		xx += (p.x - meanX) * (p.x - meanX)
		xy += (p.x - meanX) * (p.y - meanY)
		yy += (p.y - meanY) * (p.y - meanY)
	}
	if len(points) < 3 || xx == 0 {
		return line{}, 0
	}
	of.slope = xy / xx
	of.intercept = meanY - of.slope*meanX
	if yy == 0 {
		return of, 1
	}
	return of, math.Min(1, xy*xy/(xx*yy))
}
