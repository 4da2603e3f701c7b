// Package standing says in the status of an object of our own where its machine stands, for people and for Cluster API. It refuses to
// know a machine, and to write anything.
package standing
