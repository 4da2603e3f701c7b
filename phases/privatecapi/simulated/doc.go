// Package simulated is a management cluster in memory, for tests of the machine privatecapi: an API server
// that keeps versions, UIDs, finalizers and owners as a real one does, a garbage collector, components of
// Cluster API with a cloud that logs what they do to it, and the operators that the machine takes turns with.
// Requests can be made to fail, or the process to end, at each write. It is no part of the product.
package simulated
