// Package capi is empty: its module builds what the proof of OpenShift clusters runs beside Capstan, and package capiworld of the suites
// starts it. `make capi` fills bin/capi with
//   - core, Cluster API's manager, unmodified, from the module of its release;
//   - devinfra, its dev provider with the in-memory backend alone, whose reconcilers are the provider's own.
//
// Both run as processes, with the arguments and the rights of the Deployments that Capstan has installed from their provider images.
//
// A guest is one of two. In memory: devinfra's fake API server of a cluster, before which package guest serves what an OpenShift has
// besides, so that there may be fifty on two cores. Or booted: an annotation of the DevCluster holds step api back, which leaves its
// endpoint free, and package booted of the suites starts an etcd and a kube-apiserver there, from the data Secret of the bootstrap
// machine alone. Either way the endpoint is in the spec of the DevCluster before it is created, and the provider under test cannot tell:
// it has no test mode.
//
// Simulated are machines, kubelets, operators, the machine-config server and clouds; no payload boots, and nothing in memory outlives
// its process. What the dev provider wants of those who use it so: a DevCluster has to have annotations; failure domains are patched
// into its status; a bootstrap machine has a Node in memory, too, and is the leader of the etcd there.
package capi
