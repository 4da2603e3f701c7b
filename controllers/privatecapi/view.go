package privatecapi

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/privatecapi"
	phases "github.com/capstan-capi/capstan/phases/privatecapi"
	"github.com/capstan-capi/capstan/phases/records"
)

var tableView = view.TableOf(table.Table)

var instances = &view.Instances{
	Kind: hostedClusterKind.GroupVersion().WithResource("hostedclusters"), Word: "HostedCluster",
	Form:  "NAMESPACE/NAME, such as clusters/example",
	KeyOf: func(namespace, name string) string { return namespace + "/" + name },
	Valid: func(key string) bool {
		namespace, name := phases.Split(machine.Key(key))
		return namespace != "" && name != "" && !strings.Contains(name, "/")
	},
}

// untold says why an instance does not tell what guards answer.
const untold = "The operator tells the state of a HostedCluster and what it waits for in its condition " + phases.Condition + ", and not what each guard answers."

// Status is what `capstan status --machine privatecapi` prints; its shape is a promise.
type Status struct {
	view.Head
	HostedCluster string `json:"hostedCluster"`
}

// Write prints it.
func (s Status) Write(out io.Writer, now time.Time) error {
	var b strings.Builder
	s.WriteHead(&b, "", now)
	_, err := io.WriteString(out, b.String())
	return err
}

// look reads the condition that tells of a HostedCluster.
func look(ctx context.Context, get view.Getter, key machine.Key) (view.Seen, error) {
	namespace, name := phases.Split(key)
	o := hostedCluster()
	found, err := get(ctx, instances.Kind, instances.Word, namespace, name, o)
	if err != nil {
		return view.Seen{}, err
	}
	if !found {
		problem := "there is no HostedCluster " + string(key)
		return view.Seen{Absent: true, Problem: problem, Status: Status{Head: view.HeadOf(tableView, machine.Record{}, problem, ""), HostedCluster: string(key)}}, nil
	}
	record, told := phases.RecordOf(o)
	if _, known := tableView.State(record.State); !told || !known {
		problem := "HostedCluster " + string(key) + " has no condition " + phases.Condition + " of a state: does the operator run with --private-capi-image?"
		return view.Seen{Problem: problem, Status: Status{Head: view.HeadOf(tableView, machine.Record{}, problem, ""), HostedCluster: string(key)}}, nil
	}
	if record, err = since(ctx, get, o, record); err != nil {
		return view.Seen{}, err
	}
	return view.Seen{
		Record: record, Waits: record.Reason, Untold: untold,
		Status: Status{Head: view.HeadOf(tableView, record, "", record.Reason).Ending(CodeOf(record.State, guards.MarksOf(o.GetAnnotations()))), HostedCluster: string(key)},
	}, nil
}

// CodeOf is the exit code of a HostedCluster in a state, by what people have asked for: one that was moved back is where they want it,
// and one that is to be moved back is not.
func CodeOf(state machine.State, marks guards.Marks) int {
	row, known := tableView.State(state)
	switch {
	case state == guards.Failed && marks.Failed == guards.Reverted, state == guards.Private && !marks.Revert:
		return view.CodeDone
	case known && row.Alarm:
		return view.CodeLook
	}
	return view.CodeOnItsWay
}

// operatorNamespace is where records are looked for: there is no flag for it where machines are looked at by their names.
const operatorNamespace = "openshift-cluster-api-operator"

// since gives what the condition of a HostedCluster tells the time since when it is so. A condition keeps its own time while its
// status stays; the record has it, unless that is of another state or object, or may not be read: then it is not known.
func since(ctx context.Context, get view.Getter, o *unstructured.Unstructured, told machine.Record) (machine.Record, error) {
	told.Since = time.Time{}
	stored, found, err := Record(ctx, get, operatorNamespace, phases.KeyOf(o))
	switch {
	case apierrors.IsForbidden(err):
		return told, nil
	case err != nil:
		return machine.Record{}, err
	case found && stored.State == told.State && stored.UID == string(o.GetUID()):
		told.Since, told.Deadline = stored.Since, stored.Deadline
	}
	return told, nil
}

// Record reads what the operator has stored of a HostedCluster in its namespace, which tells more than the condition. found is false
// where nothing is stored; what was stored of another object of the same name has another UID.
func Record(ctx context.Context, get view.Getter, namespace string, key machine.Key) (record machine.Record, found bool, err error) {
	at := records.NewConfigMaps[guards.Facts, phases.Works](records.Options{Namespace: namespace, Name: recordsName}).ConfigMapOf(key)
	stored := &corev1.ConfigMap{}
	if found, err = get(ctx, corev1.SchemeGroupVersion.WithResource("configmaps"), "ConfigMap", at.Namespace, at.Name, stored); err != nil || !found {
		return machine.Record{}, false, err
	}
	all, err := records.Of(stored)
	if err != nil {
		return machine.Record{}, false, fmt.Errorf("reading what is stored of HostedCluster %s: %w", key, err)
	}
	record, found = all[key]
	return record, found, nil
}
