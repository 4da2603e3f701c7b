package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	configclient "github.com/openshift/client-go/config/clientset/versioned/typed/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/newest"
	"github.com/capstan-capi/capstan/phases/status"
)

func notFound(key client.ObjectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "simulated"}, key.Name)
}

// api is the ClusterAPI as it is stored, nil for none.
func (c *Cluster) api(ctx context.Context) *operatorv1alpha1.ClusterAPI {
	api := &operatorv1alpha1.ClusterAPI{}
	if !c.find(ctx, client.ObjectKey{Name: phases.Singleton}, api) {
		return nil
	}
	return api
}

// operator is the ClusterOperator as it is stored, nil for none.
func (c *Cluster) operator(ctx context.Context) *configv1.ClusterOperator {
	operator := &configv1.ClusterOperator{}
	if !c.find(ctx, client.ObjectKey{Name: phases.ClusterOperatorName}, operator) {
		return nil
	}
	return operator
}

func (c *Cluster) find(ctx context.Context, key client.ObjectKey, into client.Object) bool {
	err := c.stored.Get(ctx, key, into)
	if apierrors.IsNotFound(err) {
		return false
	}
	must(err)
	return true
}

// must panics on what cannot fail in memory.
func must(err error) {
	if err != nil {
		panic(fmt.Errorf("simulated: %w", err))
	}
}

// updateStatus is the operator's write of ClusterAPI.status, and keeps account of it.
func (c *Cluster) updateStatus(ctx context.Context, to client.Client, sub string, object client.Object, opts ...client.SubResourceUpdateOption) error {
	api, is := object.(*operatorv1alpha1.ClusterAPI)
	if !is {
		return fmt.Errorf("simulated: nobody writes the status of %T", object)
	}
	if c.wrote.last != "" && newest.Trusted(c.Now().Sub(c.wrote.at)) {
		if order, err := resourceversion.CompareResourceVersion(api.ResourceVersion, c.wrote.last); err != nil || order < 0 {
			c.wrote.Stale++
		}
	}
	if c.unwritable != nil {
		return c.unwritable
	}
	before := c.api(ctx)
	if err := to.SubResource(sub).Update(ctx, api, opts...); err != nil {
		return err
	}
	c.wrote.ClusterAPI++
	c.wrote.last, c.wrote.at = api.ResourceVersion, c.Now()
	for _, field := range changed(before.Status, api.Status) {
		c.wrote.Fields[field]++
	}
	c.announce()
	return nil
}

// changed names what a write of ClusterAPI.status has changed.
func changed(before, after operatorv1alpha1.ClusterAPIStatus) []string {
	var fields []string
	if len(after.Revisions) > len(before.Revisions) {
		fields = append(fields, phases.WritesRevision)
	}
	if len(after.Revisions) < len(before.Revisions) {
		fields = append(fields, phases.WritesTrimmed)
	}
	if after.ObservedRevisionGeneration != before.ObservedRevisionGeneration {
		fields = append(fields, phases.WritesObserved)
	}
	if after.CurrentRevision != before.CurrentRevision {
		fields = append(fields, phases.WritesCurrent)
	}
	return fields
}

// operators is the client of ClusterOperators, of which only the writes are used.
type operators struct {
	configclient.ClusterOperatorInterface
	cluster *Cluster
}

// Create creates the ClusterOperator.
func (o *operators) Create(ctx context.Context, operator *configv1.ClusterOperator, _ metav1.CreateOptions) (*configv1.ClusterOperator, error) {
	if o.cluster.unsaved != nil {
		return nil, o.cluster.unsaved
	}
	created := operator.DeepCopy()
	o.cluster.created++
	created.UID = types.UID(fmt.Sprintf("operator-%d", o.cluster.created))
	if err := o.cluster.stored.Create(ctx, created); err != nil {
		return nil, err
	}
	return created, nil
}

// Get reads the ClusterOperator itself.
func (o *operators) Get(ctx context.Context, _ string, _ metav1.GetOptions) (*configv1.ClusterOperator, error) {
	if operator := o.cluster.operator(ctx); operator != nil {
		return operator, nil
	}
	return nil, notFound(client.ObjectKey{Name: phases.ClusterOperatorName})
}

// ApplyStatus replaces the status: there is one field manager here.
func (o *operators) ApplyStatus(ctx context.Context, apply *configv1ac.ClusterOperatorApplyConfiguration, _ metav1.ApplyOptions) (*configv1.ClusterOperator, error) {
	c := o.cluster
	if c.unsaved != nil {
		return nil, c.unsaved
	}
	operator := c.operator(ctx)
	if operator == nil {
		return nil, notFound(client.ObjectKey{Name: phases.ClusterOperatorName})
	}
	text, err := json.Marshal(apply.Status)
	if err != nil {
		return nil, err
	}
	operator.Status = configv1.ClusterOperatorStatus{}
	if err := json.Unmarshal(text, &operator.Status); err != nil {
		return nil, err
	}
	if err := c.stored.Status().Update(ctx, operator); err != nil {
		return nil, err
	}
	c.wrote.ClusterOperator++
	return operator, nil
}

// ClusterOperators writes them.
func (c *Cluster) ClusterOperators() configclient.ClusterOperatorInterface {
	return &operators{cluster: c}
}

// recordKey is where the record lies in the extension.
var recordKey = status.RecordKey("clusterapi")

// Record is the stored record as JSON, nil for none.
func (c *Cluster) Record() json.RawMessage {
	operator := c.operator(context.Background())
	if operator == nil {
		return nil
	}
	var entries map[string]json.RawMessage
	if len(operator.Status.Extension.Raw) == 0 || json.Unmarshal(operator.Status.Extension.Raw, &entries) != nil {
		return nil
	}
	return entries[recordKey]
}

// Forge stores another record; nil stores none.
func (c *Cluster) Forge(record json.RawMessage) {
	operator := c.operator(context.Background())
	if operator == nil {
		return
	}
	entries := map[string]json.RawMessage{}
	if len(operator.Status.Extension.Raw) > 0 && json.Unmarshal(operator.Status.Extension.Raw, &entries) != nil {
		panic(errors.New("simulated: the extension is not an object"))
	}
	delete(entries, recordKey)
	if record != nil {
		entries[recordKey] = record
	}
	text, err := json.Marshal(entries)
	must(err)
	operator.Status.Extension.Raw = text
	must(c.stored.Status().Update(context.Background(), operator))
	c.announce()
}
