// Package standing says in the status of an object of our own where its machine stands, and what stands in its way, for people and for
// Cluster API. It refuses to know a machine, and to write anything.
package standing
