// Package openshiftcontrolplane does the looking and the doing of the machine openshiftcontrolplane: it has an OpenShift cluster
// made out of an OpenShiftControlPlane, by Machines of Cluster API. It decides nothing; which work is done when is in
// machine/openshiftcontrolplane/table.go.
//
// Names of what is made are fixed, and it is made in an order from which another process can go on: config, infrastructure
// machine, Machine. What has our name and another owner is a conflict.
//
// It refuses to write an input, to make a second bootstrap Machine for an attempt, and to overwrite what is somebody else's.
package openshiftcontrolplane
