// Package payload checks the manifests that an OpenShift release would carry for
// this operator: what the cluster-version operator needs to choose, order, apply
// and wait for them, and what the platform asks of whatever a release runs. It
// reads a folder and no cluster, and it changes nothing. Each rule has a name, which
// docs/payload.md explains.
package payload
