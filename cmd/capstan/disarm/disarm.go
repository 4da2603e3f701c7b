// Package disarm has API servers go on without the checker of CRD compatibility: it sets the entries of its webhook
// configurations to Ignore. It asks neither the operator nor the checker, and touches nobody else's configurations.
package disarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// Label, with value true, is on the checker's configurations, and Domain is what the names of its webhooks end with: somebody
// may have taken the label off.
const (
	Label  = "capstan.openshift.io/checker"
	Domain = ".capstan.openshift.io"
)

// Until is the annotation that has the operator arm nothing before that time.
const Until = "capstan.openshift.io/disarmed-until"

const fieldManager = "capstan-disarm"

// Plan is what `capstan disarm` would do or has done; its JSON is what -o json prints.
type Plan struct {
	// Entries are those that refuse while nobody answers.
	Entries []Entry `json:"entries"`
	// Ignored counts those that do not.
	Ignored int `json:"ignored"`
	// Configurations counts those of the checker, Held those of them that the operator is to leave so for a time already.
	Configurations int  `json:"configurations"`
	Held           int  `json:"held"`
	Done           bool `json:"done"`
	// Until is when the operator arms them again at the earliest, by this command or one before it; zero for as soon as it can.
	Until time.Time `json:"until,omitzero"`

	marks bool // of configurations change by it
}

// Nothing says that there is nothing to do: nothing refuses while nobody answers, and until when that is to stay so is said already.
func (p Plan) Nothing() bool { return len(p.Entries) == 0 && !p.marks }

// Entry is one webhook of a configuration.
type Entry struct {
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Webhook       string `json:"webhook"`
}

// Cluster is what is read and written.
type Cluster struct {
	host    string
	dynamic dynamic.Interface
}

// NewCluster binds to a cluster; nothing is sent.
func NewCluster(config *rest.Config) (*Cluster, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return &Cluster{host: config.Host, dynamic: client}, nil
}

// Disarm plans, and with act also sets to Ignore what it names. The operator may write at the same time: then that
// configuration is looked at again. What cannot be read or written holds up nothing else; the error names each.
// None of the configurations is armed again before the given time, zero for no such time; nil leaves one that was given before.
func (c *Cluster) Disarm(ctx context.Context, act bool, until *time.Time) (Plan, error) {
	plan := Plan{Entries: []Entry{}}
	if until != nil {
		plan.Until = *until
	}
	var failed []error
	for _, resource := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		of := c.dynamic.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource))
		list, err := of.List(ctx, metav1.ListOptions{})
		if err != nil {
			failed = append(failed, inspect.Explain(err, c.host, "list", resource))
			continue
		}
		for i := range list.Items {
			if !IsCheckers(&list.Items[i]) {
				continue
			}
			if end := heldUntil(&list.Items[i]); until == nil && end.After(time.Now()) && end.After(plan.Until) {
				plan.Until = end
			}
			armed, ignored := entries(&list.Items[i])
			plan.Ignored += ignored
			plan.Configurations++
			if list.Items[i].GetAnnotations()[Until] != "" {
				plan.Held++
			}
			if act {
				if err := ignore(ctx, of, &list.Items[i], until); err != nil {
					failed = append(failed, inspect.Explain(err, c.host, "patch", list.Items[i].GetKind()+" "+list.Items[i].GetName()))
					continue
				}
			}
			plan.Entries = append(plan.Entries, armed...)
		}
	}
	plan.Done = act
	plan.marks = until != nil && (until.IsZero() && plan.Held > 0 || !until.IsZero() && plan.Configurations > 0)
	return plan, errors.Join(failed...)
}

// heldUntil is when a configuration is armed again at the earliest, zero where nothing says so.
func heldUntil(configuration *unstructured.Unstructured) time.Time {
	until, err := time.Parse(time.RFC3339, configuration.GetAnnotations()[Until])
	if err != nil {
		return time.Time{}
	}
	return until
}

// IsCheckers says that a configuration has the label, or webhooks of nobody else.
func IsCheckers(configuration *unstructured.Unstructured) bool {
	if configuration.GetLabels()[Label] == "true" {
		return true
	}
	all := webhooks(configuration)
	return len(all) > 0 && !slices.ContainsFunc(all, func(w map[string]any) bool { return !strings.HasSuffix(fmt.Sprint(w["name"]), Domain) })
}

// entries are those that refuse while nobody answers, and how many do not.
func entries(configuration *unstructured.Unstructured) (armed []Entry, ignored int) {
	for _, webhook := range webhooks(configuration) {
		if webhook["failurePolicy"] == string(admissionregistrationv1.Ignore) {
			ignored++
			continue
		}
		armed = append(armed, Entry{configuration.GetKind(), configuration.GetName(), fmt.Sprint(webhook["name"])})
	}
	return armed, ignored
}

func webhooks(configuration *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	all := make([]map[string]any, 0, len(list))
	for _, item := range list {
		webhook, _ := item.(map[string]any)
		all = append(all, webhook)
	}
	return all
}

// ignore writes the failure policies, until when they are to stay so, and nothing else. A configuration that is gone refuses nothing.
func ignore(ctx context.Context, of dynamic.ResourceInterface, seen *unstructured.Unstructured, until *time.Time) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		patch, err := patchOf(seen, until)
		if err != nil {
			return err
		}
		_, err = of.Patch(ctx, seen.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if !apierrors.IsConflict(err) {
			return err
		}
		fresh, again := of.Get(ctx, seen.GetName(), metav1.GetOptions{})
		if again != nil {
			return again
		}
		seen = fresh
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// patchOf holds for the version that was seen.
func patchOf(seen *unstructured.Unstructured, until *time.Time) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	operations := []operation{{"replace", "/metadata/resourceVersion", seen.GetResourceVersion()}}
	for i := range webhooks(seen) {
		operations = append(operations, operation{"add", fmt.Sprintf("/webhooks/%d/failurePolicy", i), admissionregistrationv1.Ignore})
	}
	const path = "/metadata/annotations"
	mark := path + "/" + strings.ReplaceAll(Until, "/", "~1")
	switch has := seen.GetAnnotations(); {
	case until == nil:
	case !until.IsZero() && has == nil:
		operations = append(operations, operation{"add", path, map[string]string{Until: until.UTC().Format(time.RFC3339)}})
	case !until.IsZero():
		operations = append(operations, operation{"add", mark, until.UTC().Format(time.RFC3339)})
	case has[Until] != "":
		operations = append(operations, operation{Op: "remove", Path: mark})
	}
	return json.Marshal(operations)
}

// Write prints the plan for people.
func (p Plan) Write(out io.Writer) error {
	does, again := "is to be set to Ignore", "is to set"
	if p.Done {
		does, again = "is set to Ignore", "sets"
	}
	var text strings.Builder
	for _, e := range p.Entries {
		fmt.Fprintf(&text, "%s %s, webhook %s, %s\n", e.Kind, e.Configuration, e.Webhook, does)
	}
	if p.Ignored > 0 {
		fmt.Fprintf(&text, "Left alone, since they are ignored while nobody answers: %d\n", p.Ignored)
	}
	switch {
	case !p.Until.IsZero() && p.Configurations > 0:
		fmt.Fprintf(&text, "The operator %s none of them back before %s\n", again, p.Until.UTC().Format(time.RFC3339))
	case p.Held > 0:
		fmt.Fprintf(&text, "The operator %s them back as soon as it can, and no later time counts any more\n", again)
	}
	_, err := io.WriteString(out, text.String())
	return err
}
