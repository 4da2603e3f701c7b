// Package booted is a guest that is a control plane of its own: a second etcd and kube-apiserver, started from what the data Secret of a
// bootstrap machine says, and nothing else, as a virtual machine would be. It has the authorities and certificates of that, is where its
// kubeconfig says, and stores its manifests. What the programs of a bootstrap and of an installed cluster would do afterwards is played
// step by step: Nodes of machines that have joined, the end of the bootstrap, etcd without its member there, and operators that have
// settled. It runs no operator, no kubelet and no machine-config server, and no payload boots.
package booted
