// Package takeover ends the installer that OpenShift shipped before on a live
// cluster: it says object by object what happens, stops the former installer,
// waits until nobody can write in its name, and removes what it leaves behind.
// It touches nothing that the former installer has installed: that is taken over
// by the operator, in place.
package takeover
