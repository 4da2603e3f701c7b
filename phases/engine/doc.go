// Package engine carries a rendered revision into a cluster, wave by wave, and keeps it there: server-side apply,
// ownership, drift, probes, inventory, prune, and the watches that feed them. It knows objects, not products: it
// never renders, never chooses a revision, never polls, never sets ownerReferences, and never deletes what holds
// users' data. What it decides about one object is a pure function of the wanted and the actual object (decide.go,
// drift.go, gates.go) and, where somebody else writes the same field over and over, of the repairs before (contest.go);
// everything that talks to the API server is kept apart from that.
package engine
