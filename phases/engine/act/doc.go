// Package act carries revisions into a cluster and removes what only older ones have. A plan is a revision made ready:
// checked, sorted into waves, with what was decided about each object (plan.go, look.go). A pass writes wave by wave
// (reconcile.go, write.go) or removes step by step (teardown.go, prunepass.go). The watches that all of it needs are
// chosen in syncwatches.go.
//
// Locks, in the order in which they are taken; nobody takes an earlier one while holding a later one:
//
//  1. plan.pass: one pass over a plan at a time. It is held while requests are made. It guards trial in every target.
//  2. plan.mu: what was decided about the objects of a plan, and its last report. It guards known in every target.
//  3. see.Cluster: what watches have shown, which watches there are, the inventories and plans, and dirty in every plan.
//     Functions whose names end in Locked, and the methods of see.Watch, want it held.
//  4. conflicts.mu, throttle.Throttle, run.mu, pruneMemory.mu: each guards one map or time, and holds no other lock.
//
// No request is made under 2, 3 or 4.
package act
