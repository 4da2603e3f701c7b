// Package config holds what a management plane needs to run the provider of OpenShift clusters, as `kubectl apply -k config/default` takes
// it and as manifests-gen packages it. It applies nothing.
package config

import "embed"

// Files are those that kustomize reads, with the folders that they are in.
//
//go:embed crd default installer manager monitoring rbac
var Files embed.FS
