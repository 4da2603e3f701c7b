// Package clusterapi pins what Cluster API's own suites against an API server are built from. It has no code: the suites are those
// of the pinned module, unchanged, and what they import is named here so that it stays among the requirements.
package clusterapi

import (
	_ "github.com/blang/semver/v4"
	_ "github.com/flatcar/ignition/config/v2_3"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/onsi/gomega"
	_ "github.com/pkg/errors"
	_ "go.etcd.io/etcd/client/v3"
	_ "k8s.io/apiserver/pkg/admission/plugin/webhook/testcerts"
	_ "k8s.io/client-go/rest/fake"
	_ "k8s.io/cluster-bootstrap/token/api"
	_ "k8s.io/component-base/featuregate/testing"
	_ "sigs.k8s.io/cluster-api/api/core/v1beta2"
	_ "sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	_ "sigs.k8s.io/controller-runtime/pkg/client/fake"
	_ "sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest/komega"
)
