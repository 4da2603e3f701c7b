// Package plan is the logic of `capstan plan`: what an upgrade would do to a cluster, told to people and to scripts. It decides
// nothing about objects, which the operator's own phases do; it says as whom they look, what stops them, and how that is shown. It
// changes nothing: its transport refuses to.
package plan
