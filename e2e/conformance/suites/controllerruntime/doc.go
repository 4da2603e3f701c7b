// Package controllerruntime pins what controller-runtime's own suite of its client is built from. It has no code: the suite is
// that of the pinned module, unchanged, and what it imports is named here so that it stays among the requirements.
package controllerruntime

import (
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "k8s.io/klog/v2"
	_ "sigs.k8s.io/controller-runtime/examples/crd/pkg"
	_ "sigs.k8s.io/controller-runtime/pkg/cache"
	_ "sigs.k8s.io/controller-runtime/pkg/client/fake"
	_ "sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/controller-runtime/pkg/log/zap"
)
