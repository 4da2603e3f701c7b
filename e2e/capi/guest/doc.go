// Package guest makes an OpenShift cluster of what the dev provider of Cluster API has in memory, as far as somebody sees it who installs
// one: before the fake API server of each DevCluster whose endpoint was set by its maker it serves, at that endpoint, what the fake one
// lacks, health and the groups of OpenShift, and plays what a bootstrap machine and operators do in a cluster that comes up or is
// upgraded. It plays the administrator, too, who takes the member of a cordoned Node out of etcd. An annotation of the DevCluster holds
// any step of that back. It is no OpenShift: no payload boots, no operator runs, nobody's rights are checked but that a client has a
// certificate of the cluster's authority; and nothing of it outlives the process.
package guest
