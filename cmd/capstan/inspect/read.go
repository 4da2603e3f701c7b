// Package inspect reads what the operator has published about itself and tells
// it to people: where the machine is, what it waits for, how it came there. It
// needs the right to get two objects, and changes nothing.
package inspect

import (
	"context"
	"encoding/json"
	"errors"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/status"
)

// The two objects that everything is read from.
var (
	ClusterAPIs      = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1alpha1", Resource: "clusterapis"}
	clusterOperators = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"}
)

// Reader gets the two objects of one cluster.
type Reader struct {
	host   string
	client dynamic.Interface
}

// NewReader binds a reader to a cluster; nothing is sent.
func NewReader(config *rest.Config) (*Reader, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, &Error{"the kubeconfig cannot be used: " + err.Error(), "repair it, or name another with --kubeconfig", err}
	}
	return &Reader{host: config.Host, client: client}, nil
}

// View is what one look at a cluster has seen.
type View struct {
	// API is nil if there is no ClusterAPI object, Operator if there is no ClusterOperator.
	API      *operatorv1alpha1.ClusterAPI
	Operator *configv1.ClusterOperator
	// Record is the zero one, and Problem says why, if there is none to be read.
	Record  machine.Record
	Detail  phases.Detail
	Problem string
}

// Look reads a cluster once. That an object does not exist is no error.
func (r *Reader) Look(ctx context.Context) (View, error) {
	var v View
	api, operator := &operatorv1alpha1.ClusterAPI{}, &configv1.ClusterOperator{}
	found, err := r.get(ctx, ClusterAPIs, "ClusterAPI", phases.Singleton, api)
	if err != nil {
		return v, err
	}
	if found {
		v.API = api
	}
	if found, err = r.get(ctx, clusterOperators, "ClusterOperator", phases.ClusterOperatorName, operator); err != nil {
		return v, err
	}
	if found {
		v.Operator = operator
	}
	v.Record, v.Detail, v.Problem = told(v.Operator)
	return v, nil
}

func (r *Reader) get(ctx context.Context, kind schema.GroupVersionResource, word, name string, into any) (bool, error) {
	object, err := r.client.Resource(kind).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && !NotServed(err):
		return false, nil
	case err != nil:
		return false, Explain(err, r.host, "get", word+" "+name)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		return false, &Error{word + " " + name + " cannot be read: " + err.Error(), "use the capstan of the release that runs on the cluster", err}
	}
	return true, nil
}

var recordKey, detailKey = status.RecordKey(table.Table.Name), status.DetailKey(table.Table.Name)

const noOperatorYet = "is the operator running? `kubectl -n openshift-cluster-api-operator get pods` shows it"

// told reads what the operator has published; what cannot be read is said, not guessed.
func told(operator *configv1.ClusterOperator) (machine.Record, phases.Detail, string) {
	var record machine.Record
	var detail phases.Detail
	if operator == nil {
		return record, detail, "ClusterOperator " + phases.ClusterOperatorName + " does not exist: no operator has reported on this cluster; " + noOperatorYet
	}
	var extension map[string]json.RawMessage
	if raw := operator.Status.Extension.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &extension); err != nil {
			return record, detail, unreadable(err)
		}
	}
	if len(extension[recordKey]) == 0 {
		return record, detail, "ClusterOperator " + phases.ClusterOperatorName + " holds no record of the machine (status.extension." + recordKey +
			"): the operator has not reported yet, or another operator reports here; " + noOperatorYet
	}
	err := json.Unmarshal(extension[recordKey], &record)
	if _, known := table.Table.State(record.State); err == nil && !known {
		err = errors.New("there is no state " + string(record.State))
	}
	if err != nil {
		return machine.Record{}, detail, unreadable(err)
	}
	if raw := extension[detailKey]; len(raw) > 0 {
		if err := json.Unmarshal(raw, &detail); err != nil {
			return record, phases.Detail{}, "what the operator tells beside its record cannot be read: " + err.Error()
		}
	}
	return record, detail, ""
}

func unreadable(err error) string {
	return "the record in status.extension." + recordKey + " of ClusterOperator " + phases.ClusterOperatorName + " cannot be read: " + err.Error() +
		"; a running operator writes a new one by itself, and this may be another release's"
}
