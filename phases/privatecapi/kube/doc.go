// Package kube is the API server that the machine privatecapi works with: reads in pages, writes with the
// preconditions that they are given, trials as a component's account as dry runs. It knows no state and
// decides nothing.
package kube
