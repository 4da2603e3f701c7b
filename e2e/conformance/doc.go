// Package main holds capstan capi-proxy against suites that others have written: Cluster API's own, controller-runtime's of its
// client, and those of Kubernetes' end-to-end tests that need no kubelet. Each is run twice, unchanged and on a fresh embedded
// control plane: direct, and by the proxy. What passes direct has to pass by the proxy. It refuses to judge the suites: what fails
// direct is told, and asks for nothing.
//
// A suite of Cluster API brings webhooks, which know the standard groups only. Where the server stores private ones, it is the shim
// that the server asks, as on a real cluster; see redirect.
package main
