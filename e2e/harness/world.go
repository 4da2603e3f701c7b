package harness

import (
	"context"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy"
)

// Names that the operator and the platform agree on.
const (
	OperatorNamespace   = "openshift-cluster-api-operator"
	CAPINamespace       = "openshift-cluster-api"
	ConfigNamespace     = "openshift-config"
	MachineAPINamespace = "openshift-machine-api"
	MCONamespace        = "openshift-machine-config-operator"
	ServiceAccount      = "capstan"
	Singleton           = "cluster"
	ClusterOperatorName = "cluster-api"
	ImagesConfigMap     = "capi-installer-images"
	ManagedByLabel      = "capi-operator.openshift.io/managed-by"
)

// fieldManager is who the harness says it is.
const fieldManager = "e2e-harness"

// World is what a cluster looks like before the operator comes.
type World struct {
	// Platform is the cluster's; empty means an Infrastructure without platformStatus.
	Platform configv1.PlatformType
	// NoClusterAPI leaves out the ClusterAPI object.
	NoClusterAPI bool
	// Images are image references by key; nil leaves out the ConfigMap.
	Images map[string]string
}

// Begin brings the cluster back to what deploy brings, whatever was done to it,
// sets clocks that can be steered back to the real time, and sets up a world. No
// operator may run.
func (e *Environment) Begin(ctx context.Context, w World) error {
	if err := e.resetClock(); err != nil {
		return err
	}
	if err := e.reset(ctx); err != nil {
		return fmt.Errorf("emptying the cluster: %w", err)
	}
	if err := e.createInfrastructure(ctx, w.Platform); err != nil {
		return err
	}
	if err := e.CreateClusterOperator(ctx); err != nil {
		return err
	}
	if w.Images != nil {
		if err := e.SetImages(ctx, w.Images); err != nil {
			return err
		}
	}
	if w.NoClusterAPI {
		return nil
	}
	return e.CreateClusterAPI(ctx)
}

// applyDeploy applies what is the same in every world: namespaces, RBAC and
// Service. The operator itself is a child process, its inputs are a world's, and
// nobody here knows what Prometheus is told by.
func (e *Environment) applyDeploy(ctx context.Context) error {
	objects, err := deploy.Objects()
	if err != nil {
		return err
	}
	for _, name := range []string{ConfigNamespace, MachineAPINamespace, MCONamespace} { // every OpenShift cluster has them
		if err := e.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("creating Namespace %s: %w", name, err)
		}
	}
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment", "ConfigMap", "ClusterAPI", "ClusterOperator", "ServiceMonitor", "PrometheusRule":
			continue
		}
		err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("applying %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return e.Allow(ctx, "synthetic-groups", syntheticKinds)
}

func (e *Environment) createInfrastructure(ctx context.Context, platform configv1.PlatformType) error {
	infrastructure := &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: Singleton}}
	if err := e.Client.Create(ctx, infrastructure); err != nil {
		return fmt.Errorf("creating Infrastructure %s: %w", Singleton, err)
	}
	if platform == "" {
		return nil
	}
	return e.SetPlatform(ctx, platform)
}

// SetPlatform writes the platform into the status of Infrastructure cluster.
func (e *Environment) SetPlatform(ctx context.Context, platform configv1.PlatformType) error {
	infrastructure := &configv1.Infrastructure{}
	if err := e.Client.Get(ctx, client.ObjectKey{Name: Singleton}, infrastructure); err != nil {
		return fmt.Errorf("reading Infrastructure %s: %w", Singleton, err)
	}
	infrastructure.Status.PlatformStatus = &configv1.PlatformStatus{Type: platform}
	infrastructure.Status.ControlPlaneTopology = configv1.HighlyAvailableTopologyMode
	infrastructure.Status.InfrastructureTopology = configv1.HighlyAvailableTopologyMode
	infrastructure.Status.CPUPartitioning = configv1.CPUPartitioningNone
	if err := e.Client.Status().Update(ctx, infrastructure); err != nil {
		return fmt.Errorf("setting platform %s of Infrastructure %s: %w", platform, Singleton, err)
	}
	return nil
}

// CreateClusterAPI creates the object that revisions are listed in.
func (e *Environment) CreateClusterAPI(ctx context.Context) error {
	object := &operatorv1alpha1.ClusterAPI{
		ObjectMeta: metav1.ObjectMeta{Name: Singleton}, Spec: &operatorv1alpha1.ClusterAPISpec{},
	}
	if err := e.Client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating ClusterAPI %s: %w", Singleton, err)
	}
	return nil
}

// CreateClusterOperator creates the object that the operator reports on.
func (e *Environment) CreateClusterOperator(ctx context.Context) error {
	object := &configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: ClusterOperatorName}}
	if err := e.Client.Create(ctx, object); err != nil {
		return fmt.Errorf("creating ClusterOperator %s: %w", ClusterOperatorName, err)
	}
	return nil
}

// SetImages makes ConfigMap capi-installer-images hold exactly these
// references, as a new release would.
func (e *Environment) SetImages(ctx context.Context, references map[string]string) error {
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: OperatorNamespace, Name: ImagesConfigMap}, Data: references,
	}
	err := e.Client.Update(ctx, object)
	if apierrors.IsNotFound(err) {
		err = e.Client.Create(ctx, object)
	}
	if err != nil {
		return fmt.Errorf("writing ConfigMap %s/%s: %w", OperatorNamespace, ImagesConfigMap, err)
	}
	return nil
}

// Administrator is the field manager under which people's changes are made.
const Administrator = client.FieldOwner("administrator")

// EditStatus changes ClusterAPI.status as an administrator would, once; a
// conflict is an error.
func (e *Environment) EditStatus(ctx context.Context, change func(*operatorv1alpha1.ClusterAPIStatus)) error {
	api := &operatorv1alpha1.ClusterAPI{}
	if err := e.Client.Get(ctx, client.ObjectKey{Name: Singleton}, api); err != nil {
		return fmt.Errorf("reading ClusterAPI %s: %w", Singleton, err)
	}
	change(&api.Status)
	if err := e.Client.Status().Update(ctx, api, Administrator); err != nil {
		return fmt.Errorf("editing the status of ClusterAPI %s: %w", Singleton, err)
	}
	return nil
}
