// Package guest asks the clusters that are installed how they are, beside the passes of the machine openshiftcontrolplane: whether
// the API answers, how far the bootstrap is, which Nodes are ready, how the operators are, and what release they have. A pass reads
// what was seen last, and is made when that has changed. It also stores and renews the kubeconfig that the guest is asked by, and
// asks the guest for another release.
//
// Every question has a bound, and so has what is kept of the answers. A guest that does not answer, refuses or lacks kinds is told as
// such, and moves nothing. What is remembered of guests is asked for again if it is lost.
//
// By a kubeconfig of somebody else's, or one that trusts another authority than ours, a guest counts only if it is the cluster that was made, by
// its ID, where that is known; and whatever was seen by a former kubeconfig counts no more.
//
// It refuses to run what a kubeconfig names, to read a file for it, to follow a guest to another host, and to write a kubeconfig that
// is somebody else's.
package guest
