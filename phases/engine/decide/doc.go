// Package decide holds the engine's decisions: what to do with one object and why, from the desired object, the actual
// object, the revision's number and the installation's identity alone. It has no client, no context and no clock, so
// that every decision can be tried with a table.
//
// A decision about an object of a revision is a Verdict (reconcile.go), one about an object that only older revisions
// have a PruneVerdict (prune.go).
package decide
