// Package machines does what the machine openshiftcontrolplane does with Machines of Cluster API: it sees which of an
// OpenShiftControlPlane's there are and how they are, makes the bootstrap Machine and those of the control plane, keeps what may
// change in place, scales and replaces under Managed, and takes all of it down in order. It decides nothing; which work is done when
// is in machine/openshiftcontrolplane/table.go.
//
// A machine is three objects of one fixed name, made in this order: config, infrastructure machine, Machine. So one that is half made
// has no Machine yet, and what has neither Machine nor config has no infrastructure machine: taking down goes the other way.
// What is there under a name is taken up if it is ours by UID, and is a standing.ConflictError if it is not.
//
// It refuses to create the bootstrap Machine where marks read live do not allow it, to delete it for its cluster's sake before the mark
// says that the bootstrap is finished, to delete a control-plane Machine of an installed cluster that nothing holds while it may have a
// member of etcd, to write what it does not own, and, once the cluster is installed, to have two control-plane Machines on their way at
// once.
package machines
