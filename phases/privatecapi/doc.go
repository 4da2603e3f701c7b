// Package privatecapi does the looking and the doing of the machine privatecapi: it moves the Cluster API
// objects of one HostedCluster between the standard groups and HyperShift's private ones, while the hosted
// control plane goes on running. It decides nothing; which phase runs when is in machine/privatecapi/table.go.
//
// A work is planned from what was seen, as an ordered list of writes, and the writes are sent one after the
// other, each bound to the version or the UID that was seen. A process that ends between two of them leaves
// a state from which the next pass plans the rest. What undoing needs stands on the objects themselves, in
// the write that makes it needed; records and the journal may be lost at any time.
//
// It refuses to delete or to create a Machine in the eyes of a provider: objects are created while their
// controllers are away and their Clusters are paused, and deleted without finalizers and without dependents.
package privatecapi
