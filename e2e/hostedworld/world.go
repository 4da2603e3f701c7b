// Package hostedworld is a management cluster of hosted control planes, as far as the move of their Cluster API objects needs one.
// What cannot be had as a Go module has a stand-in here: HyperShift's HostedCluster, which nobody reconciles; its operator, which is a
// Deployment that does nothing; Cluster API's manager and a provider, two small programs that know the standard groups alone; a cloud,
// which is a list of machines in memory; and a kubelet, which runs those programs while the Pods of their Deployments are there, behind
// the real proxy where a Pod has that beside it. It starts no operator, and judges nothing.
package hostedworld

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/deploy/privatecapi"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// Object is any object.
type Object = unstructured.Unstructured

// World is a management cluster.
type World struct {
	*harness.Environment
	// Cloud has the machines of all hosted clusters.
	Cloud *Cloud

	bin     string
	running sync.WaitGroup

	// mu guards what programs and people say of a hosted cluster.
	mu sync.Mutex
}

// Begin empties the cluster, which has to have the definitions of this package, and puts in place what there is before an operator
// comes: deploy/privatecapi but for the shim, which nothing of one version needs, and the stand-in for HyperShift's old operator. The
// kubelet works until the context ends; see Wait. bin is what make build fills.
func Begin(ctx context.Context, env *harness.Environment, bin string) (*World, error) {
	w := &World{Environment: env, Cloud: &Cloud{}, bin: bin}
	if err := env.Begin(ctx, harness.World{}); err != nil {
		return nil, err
	}
	if err := w.createNamespace(ctx, oldOperator.Namespace, nil); err != nil {
		return nil, err
	}
	shipped, err := privatecapi.Moving()
	if err != nil {
		return nil, err
	}
	for _, o := range shipped {
		if err := w.Create(ctx, o); err != nil {
			return nil, err
		}
	}
	return w, w.Create(ctx, deployment(oldOperator, ""))
}

// Wait returns when the kubelet has ended all that it ran.
func (w *World) Wait() { w.running.Wait() }

// oldOperator is the Deployment of HyperShift's operator for standard types.
var oldOperator = metav1.ObjectMeta{Namespace: "hypershift", Name: "operator"}

// ProxyImage is the flag by which an operator has the image of the proxy. No kubelet pulls it.
func ProxyImage() string {
	return "--private-capi-image=registry.example.com/capstan@sha256:1111111111111111111111111111111111111111111111111111111111111111"
}

// OldOperator is the operator's flag that names the Deployment of HyperShift's old operator.
func OldOperator() string {
	return "--legacy-operator=" + oldOperator.Namespace + "/" + oldOperator.Name
}

// Create makes an object as an administrator does; afterwards it is as it is stored.
func (w *World) Create(ctx context.Context, o client.Object) error {
	if err := w.Client.Create(ctx, o, harness.Administrator); err != nil {
		return fmt.Errorf("creating %T %s: %w", o, o.GetName(), err)
	}
	return nil
}

func (w *World) createNamespace(ctx context.Context, name string, labels map[string]string) error {
	return w.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
}

// deployment is one of a Pod, which kwok lets run.
func deployment(about metav1.ObjectMeta, account string) *appsv1.Deployment {
	labels := map[string]string{appLabel: about.Name}
	return &appsv1.Deployment{
		ObjectMeta: about,
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{
				ServiceAccountName: account,
				Containers:         []corev1.Container{{Name: "manager", Image: "registry.example.com/" + about.Name}},
			},
		}},
	}
}

const appLabel = "app"
