package explaining

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/cmd/capstan-provider/standing"
	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// machinesMost bounds how many Machines are read.
const machinesMost = 500

// Look is what was read of one cluster.
type Look struct {
	Plane *v1alpha1.OpenShiftControlPlane
	// Cluster is nil where there is none, or where it may not be read.
	Cluster  *clusterv1.Cluster
	Machines []clusterv1.Machine
	// Unread says what could not be read, and why.
	Unread []string
}

// Read reads an OpenShiftControlPlane, and what it can of its Cluster and Machines. host names the management plane to people.
func Read(ctx context.Context, client dynamic.Interface, host string, key types.NamespacedName) (Look, error) {
	look := Look{Plane: &v1alpha1.OpenShiftControlPlane{}}
	reader := reader{client, host}
	found, err := reader.get(ctx, standing.ControlPlanes, v1alpha1.ControlPlaneKind, key, look.Plane)
	switch {
	case err != nil:
		return look, err
	case !found:
		return look, &inspect.Error{
			What: v1alpha1.ControlPlaneKind + " " + key.String() + " does not exist",
			Next: "apply it, or look for its name with `kubectl get -A openshiftcontrolplanes`",
		}
	}
	name := standing.ClusterOf(look.Plane)
	if name == "" {
		return look, nil
	}
	cluster := &clusterv1.Cluster{}
	if found, err = reader.get(ctx, standing.Clusters, "Cluster", types.NamespacedName{Namespace: key.Namespace, Name: name}, cluster); err != nil {
		look.Unread = append(look.Unread, said(err))
	} else if found {
		look.Cluster = cluster
	}
	list, err := client.Resource(standing.Machines).Namespace(key.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.Set{clusterv1.ClusterNameLabel: name}.String(), Limit: machinesMost,
	})
	if err != nil {
		look.Unread = append(look.Unread, said(standing.Explain(err, host, "list", "machines")))
		return look, nil
	}
	for _, object := range list.Items {
		var one clusterv1.Machine
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &one); err != nil {
			look.Unread = append(look.Unread, "Machine "+object.GetName()+": "+err.Error())
			continue
		}
		look.Machines = append(look.Machines, one)
	}
	return look, nil
}

type reader struct {
	client dynamic.Interface
	host   string
}

func (r reader) get(ctx context.Context, kind schema.GroupVersionResource, word string, key types.NamespacedName, into any) (bool, error) {
	object, err := r.client.Resource(kind).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !inspect.NotServed(err):
		return false, nil
	case err != nil:
		return false, standing.Explain(err, r.host, "get", word+" "+key.Name)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return false, &inspect.Error{What: word + " " + key.Name + " cannot be read: " + err.Error(), Next: "use the capstan-provider of the release that runs there", Err: err}
	}
	return true, nil
}

// said is an error in one line.
func said(err error) string {
	if told, is := errors.AsType[*inspect.Error](err); is {
		return told.What
	}
	return err.Error()
}
