// Package engine carries a rendered revision into a cluster, wave by wave, and keeps it there: server-side apply,
// ownership, drift, probes, inventory, prune, and the watches that feed them. It knows objects, not products: it never
// renders, never chooses a revision, never polls, never sets ownerReferences, and never deletes what holds users' data.
//
// This package is its face: engine.go has the methods, names.go the types and values that they take and give. Behind it
// are rooms, lowest first; each may use those before it, which the linter checks:
//
//   - throttle: the transport that leaves the API server alone for as long as it asks to be
//   - decide: what to do with one object and why; pure, without client, context or clock
//   - inventory: what each revision applied, what only older ones have; pure too
//   - report: what is told
//   - see: objects, watches, kinds
//   - act: plans, passes and all requests that write; the order of locks is in its doc.go
package engine
