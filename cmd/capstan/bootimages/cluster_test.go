package bootimages

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	machinev1beta1 "github.com/openshift/api/machine/v1beta1"
	operatorv1 "github.com/openshift/api/operator/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capstan-capi/capstan/phases/bootgate"
	"github.com/capstan-capi/capstan/phases/golden"
)

var now = time.Date(2026, 1, 1, 12, 3, 12, 0, time.UTC)

// bench is a cluster that is looked at.
type bench struct {
	objects []client.Object
	// forbids are the kinds that may not be read.
	forbids []string
	apis    []string
}

// awsSet is a MachineSet of Machine API with an AMI.
func awsSet(name, ami string) *machinev1beta1.MachineSet {
	set := &machinev1beta1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-machine-api", Name: name, UID: "u"}}
	set.Spec.Template.Spec.ProviderSpec.Value = &runtime.RawExtension{Raw: fmt.Appendf(nil,
		`{"apiVersion":"machine.openshift.io/v1beta1","kind":"AWSMachineProviderConfig","ami":{"id":%q},"placement":{"region":"us-east-1"},"userDataSecret":{"name":"worker-user-data"}}`, ami)}
	return set
}

// clusterAPISet is a MachineSet of Cluster API that nobody has enrolled.
func clusterAPISet(name string) *unstructured.Unstructured {
	set := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"clusterName": "c-x1"}}}
	set.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "MachineSet"})
	set.SetNamespace("capi")
	set.SetName(name)
	return set
}

func configMap(namespace, name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
}

// told is a ClusterOperator in which an operator has told this, 3 minutes ago.
func told(extension string) *configv1.ClusterOperator {
	at := metav1.NewTime(now.Add(-3 * time.Minute))
	return &configv1.ClusterOperator{
		ObjectMeta: metav1.ObjectMeta{Name: "cluster-api", ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "capstan", Subresource: "status", Time: &at, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "config.openshift.io/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1("{}"),
		}}},
		Status: configv1.ClusterOperatorStatus{Extension: runtime.RawExtension{Raw: []byte(extension)}},
	}
}

// open is what an operator has told of an open gate, and of targets besides.
func open(detail string) *configv1.ClusterOperator {
	return told(`{"bootgate":{"state":"Open","since":"2026-01-01T11:00:00Z","progress":{"since":"2026-01-01T11:00:00Z"},"entry":{}},
		"bootgateDetail":{"waits":"","settings":{"apis":["MachineAPI","ClusterAPI"],"gcpProject":"rhcos-cloud","stream":"rhel-9","limits":"4.13.0,9.2","rollsOutBefore":"4.21"}` + detail + `}}`)
}

// ready is a cluster whose gate is open for AMI ami-new of release 4.22.1.
func ready(more ...client.Object) *bench {
	infra := &configv1.Infrastructure{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}}
	infra.Status = configv1.InfrastructureStatus{
		InfrastructureName: "c-x1", ControlPlaneTopology: configv1.HighlyAvailableTopologyMode,
		PlatformStatus: &configv1.PlatformStatus{Type: configv1.AWSPlatformType, AWS: &configv1.AWSPlatformStatus{Region: "us-east-1"}},
	}
	version := &configv1.ClusterVersion{ObjectMeta: metav1.ObjectMeta{Name: "version"}}
	version.Status.History = []configv1.UpdateHistory{{State: configv1.CompletedUpdate, Version: "4.22.1"}, {State: configv1.CompletedUpdate, Version: "4.14.0"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "m0", Labels: map[string]string{"node-role.kubernetes.io/master": ""}}}
	node.Status.NodeInfo.Architecture = "amd64"
	config := &operatorv1.MachineConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "cluster", Generation: 3}}
	config.Status.ManagedBootImagesStatus = bootgate.Resolve(operatorv1.ManagedBootImages{}, configv1.AWSPlatformType)
	config.Status.ObservedGeneration = 3
	stream, _ := json.Marshal(map[string]any{"architectures": map[string]any{"x86_64": map[string]any{
		"images": map[string]any{"aws": map[string]any{"regions": map[string]any{"us-east-1": map[string]any{"image": "ami-new", "release": "9.6"}}}},
	}}})
	data := map[string]string{"stream": string(stream), "releaseVersion": "4.22.1", "MCOReleaseImageVersion": "4.22.1"}
	read, err := golden.Read(data)
	if err != nil {
		panic(err)
	}
	known, _ := golden.Remember(map[string]string{"0-0011223344556677": "ami-old"}, read)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-machine-api", Name: "worker-user-data"}, Data: map[string][]byte{"userData": []byte(`{"ignition":{"version":"3.2.0"},"hush":1}`)}}
	renewed, seconds, holder := metav1.NewMicroTime(now.Add(-2*time.Second)), int32(60), "pod-1"
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "capstan-leader"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &renewed, LeaseDurationSeconds: &seconds},
	}
	return &bench{objects: append([]client.Object{
		infra, version, node, config, configMap(bootgate.GoldenNamespace, bootgate.GoldenConfigMap, data), configMap("ops", bootgate.KnownConfigMap, known), secret, lease,
	}, more...)}
}

// find is one of the objects.
func find[T client.Object](b *bench) (found T) {
	for _, o := range b.objects {
		if is, right := o.(T); right {
			return is
		}
	}
	return found
}

func (b *bench) look(t *testing.T) (*Look, error) {
	t.Helper()
	kinds := kindsRead()
	mapper, err := kinds.Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	scheme := kinds.Scheme()
	untyped := func(group, version string, names ...string) {
		for _, name := range names {
			of := schema.GroupVersion{Group: group, Version: version}
			scheme.AddKnownTypeWithName(of.WithKind(name), &unstructured.Unstructured{})
			scheme.AddKnownTypeWithName(of.WithKind(name+"List"), &unstructured.UnstructuredList{})
		}
	}
	untyped("cluster.x-k8s.io", "v1beta2", "Cluster", "MachineSet", "MachineDeployment")
	untyped("infrastructure.cluster.x-k8s.io", "v1beta2", "AWSMachineTemplate")
	untyped("infrastructure.cluster.x-k8s.io", "v1beta1", "GCPMachineTemplate")
	plain := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithReturnManagedFields().WithObjects(b.objects...).Build()
	refused := func(of runtime.Object, name string) error {
		kind, err := plain.GroupVersionKindFor(of)
		if err == nil && slices.Contains(b.forbids, kind.Kind) {
			return apierrors.NewForbidden(schema.GroupResource{Resource: kind.Kind}, name, nil)
		}
		return err
	}
	from := interceptor.NewClient(plain, interceptor.Funcs{
		Get: func(ctx context.Context, next client.WithWatch, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
			if err := refused(into, key.Name); err != nil {
				return err
			}
			return next.Get(ctx, key, into, o...)
		},
		List: func(ctx context.Context, next client.WithWatch, into client.ObjectList, o ...client.ListOption) error {
			if err := refused(into, ""); err != nil {
				return err
			}
			return next.List(ctx, into, o...)
		},
	})
	return lookBy(t.Context(), newReader(from, "cluster"), Options{
		OperatorNamespace: "ops", CAPINamespace: "capi", Lease: "capstan-leader", APIs: b.apis, Now: func() time.Time { return now },
		Settings: bootgate.Settings{APIs: []string{bootgate.ClusterAPI}, GCPProject: "rhcos-cloud", Stream: "rhel-9", Limits: "4.13.0,9.2", RollsOutBefore: "4.21"},
	})
}

// must looks at a cluster that can be read.
func (b *bench) must(t *testing.T) *Look {
	t.Helper()
	look, err := b.look(t)
	if err != nil {
		t.Fatal(err)
	}
	return look
}
