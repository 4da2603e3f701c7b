package view

import (
	"context"
	"encoding/json"
	"errors"

	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/status"
)

const noOperatorYet = "is the operator running? `kubectl -n openshift-cluster-api-operator get pods` shows it"

// Operator reads a ClusterOperator, nil if there is none.
func Operator(ctx context.Context, get Getter, name string) (*configv1.ClusterOperator, error) {
	operator := &configv1.ClusterOperator{}
	if found, err := get(ctx, configv1.GroupVersion.WithResource("clusteroperators"), "ClusterOperator", "", name, operator); !found || err != nil {
		return nil, err
	}
	return operator, nil
}

// Published reads what a machine has published in the status of a ClusterOperator
// of this name, and the detail beside it into one; what cannot be read is said,
// not guessed.
func Published(table Table, name string, operator *configv1.ClusterOperator, detail any) (record machine.Record, problem string) {
	key := status.RecordKey(table.Name)
	unreadable := func(err error) string {
		return "the record in status.extension." + key + " of ClusterOperator " + name + " cannot be read: " + err.Error() +
			"; a running operator writes a new one by itself, and this may be another release's"
	}
	if operator == nil {
		return record, "ClusterOperator " + name + " does not exist: no operator has reported on this cluster; " + noOperatorYet
	}
	var extension map[string]json.RawMessage
	if raw := operator.Status.Extension.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &extension); err != nil {
			return record, unreadable(err)
		}
	}
	if len(extension[key]) == 0 {
		return record, "ClusterOperator " + name + " holds no record of the machine (status.extension." + key +
			"): the operator has not reported yet, or another operator reports here; " + noOperatorYet
	}
	err := json.Unmarshal(extension[key], &record)
	if _, known := table.State(record.State); err == nil && !known {
		err = errors.New("there is no state " + string(record.State))
	}
	if err != nil {
		return machine.Record{}, unreadable(err)
	}
	if raw := extension[status.DetailKey(table.Name)]; len(raw) > 0 {
		if err := json.Unmarshal(raw, detail); err != nil {
			return record, "what the operator tells beside its record cannot be read: " + err.Error()
		}
	}
	return record, ""
}
