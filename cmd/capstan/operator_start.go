package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

// leaseName is the Lease of the replica that works.
const leaseName = "capstan-leader"

// renewTimeout bounds one request about the Lease, so that one that hangs does
// not lose it: the manager gives up after ten seconds.
const renewTimeout = 5 * time.Second

// lease is a lock that records no Event: who leads is in the Lease itself, and
// a restart with nothing to do writes nothing but that.
func (f *operatorFlags) lease(access *rest.Config) (resourcelock.Interface, error) {
	if !f.leaderElect {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("naming this replica: %w", err)
	}
	access = rest.AddUserAgent(rest.CopyConfig(access), "leader-election")
	access.Timeout = renewTimeout
	client, err := coordinationv1client.NewForConfig(access)
	if err != nil {
		return nil, fmt.Errorf("making the client of the Lease: %w", err)
	}
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: f.operatorNamespace, Name: leaseName},
		Client:     client,
		LockConfig: resourcelock.ResourceLockConfig{Identity: host + "_" + string(uuid.NewUUID())},
	}, nil
}

// knownKinds are all kinds that the manager's clients and caches speak of. They
// are known here, so that a start asks the API server for none of its kinds;
// what providers bring is the apply engine's matter.
func knownKinds(*rest.Config, *http.Client) (meta.RESTMapper, error) {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, configv1.GroupVersion, operatorv1alpha1.GroupVersion})
	for _, kind := range []string{"ConfigMap", "Secret"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	for _, kind := range []string{"APIServer", "ClusterOperator", "ImageDigestMirrorSet", "Infrastructure"} {
		mapper.Add(configv1.GroupVersion.WithKind(kind), meta.RESTScopeRoot)
	}
	mapper.Add(operatorv1alpha1.GroupVersion.WithKind("ClusterAPI"), meta.RESTScopeRoot)
	return mapper, nil
}

// warm has the controllers fill their caches while the Lease is being waited
// for: whoever gets it has seen everything already.
func warm() config.Controller {
	yes := true
	return config.Controller{EnableWarmup: &yes}
}

// together runs all until the context, or the first that fails, ends all of them.
func together(ctx context.Context, runs []func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, run := range runs {
		group.Go(func() error { return run(ctx) })
	}
	return group.Wait()
}
