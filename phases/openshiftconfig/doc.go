// Package openshiftconfig does the looking and the doing of the machine openshiftconfig: it gives a machine of an OpenShift cluster
// the Secret that it is started with. It decides nothing; which work is done when is in machine/openshiftconfig/table.go.
//
// It refuses to write anything once the machine was started, and to publish what is no valid Ignition config.
package openshiftconfig
