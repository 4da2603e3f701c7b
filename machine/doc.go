// Package machine runs controllers that are one declared state machine.
//
// A [Table] lists states and moves; [Machine.Step] makes one pass over it:
// observe the world into facts, make at most one move or else do the state's
// work, save the record once. Guards are pure functions of facts; only Work
// and Do touch the world. The package knows no Kubernetes kinds, does no I/O
// and has no clock of its own, so that the same table drives the operator, the
// exhaustive tests in machinetest and the generated diagrams.
package machine
