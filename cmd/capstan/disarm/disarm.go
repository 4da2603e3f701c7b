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
	phases "github.com/capstan-capi/capstan/phases/compatibility"
)

// Label, with value true, is on the checker's configurations, and Domain is what the names of its webhooks end with: somebody
// may have taken the label off.
const (
	Label  = "capstan.openshift.io/checker"
	Domain = ".capstan.openshift.io"
)

// Until is the annotation that has the operator arm nothing before that time.
const Until = phases.DisarmedAnnotation

const fieldManager = "capstan-disarm"

// Plan is what `capstan disarm` would do or has done; its JSON is what -o json prints.
type Plan struct {
	// Entries are those that refuse while nobody answers, and Refused those of them that could not be written.
	Entries []Entry `json:"entries"`
	Refused []Entry `json:"refused,omitempty"`
	// Ignored counts those that do not.
	Ignored int `json:"ignored"`
	// Configurations counts those of the checker, Held those of them that the operator is to leave so for a time already.
	Configurations int `json:"configurations"`
	Held           int `json:"held"`
	// Done says that all of it was done.
	Done bool `json:"done"`
	// Until is when the operator arms any of them again at the earliest, by this command or one before it; zero for as soon as it can.
	Until time.Time `json:"until,omitzero"`
	// Holds are those that were there before.
	Holds []Hold `json:"holds,omitempty"`

	acted, ends bool
	marks       int // of configurations change by it
}

// Nothing says that there is nothing to do: nothing refuses while nobody answers, and until when that is to stay so is said already.
func (p Plan) Nothing() bool { return len(p.Entries)+len(p.Refused) == 0 && p.marks == 0 }

// Entry is one webhook of a configuration.
type Entry struct {
	Kind          string `json:"kind"`
	Configuration string `json:"configuration"`
	Webhook       string `json:"webhook"`
}

// Hold says until when the operator leaves a configuration as it is.
type Hold struct {
	Kind          string    `json:"kind"`
	Configuration string    `json:"configuration"`
	Until         time.Time `json:"until"`
}

// Cluster is what is read and written.
type Cluster struct {
	host    string
	dynamic dynamic.Interface
	clock   *inspect.ServerClock
}

// NewCluster binds to a cluster; nothing is sent.
func NewCluster(config *rest.Config) (*Cluster, error) {
	c := &Cluster{host: config.Host, clock: &inspect.ServerClock{}}
	var err error
	if c.dynamic, err = dynamic.NewForConfig(c.clock.Hears(config)); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return c, nil
}

// Now is the time of the API server, by which the operator has to judge what is written.
func (c *Cluster) Now(ctx context.Context) (time.Time, error) {
	const resource = "validatingwebhookconfigurations"
	of := c.dynamic.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource))
	if _, err := of.List(ctx, metav1.ListOptions{Limit: 1}); err != nil && !apierrors.IsForbidden(err) { // which has the time too
		return time.Time{}, inspect.Explain(err, c.host, "list", resource)
	}
	return c.clock.Now()
}

// Disarm plans, and with act also sets to Ignore what it names. The operator may write at the same time: then that
// configuration is looked at again. What cannot be read or written holds up nothing else; the error names each.
// None of the configurations is armed again before the given time; nil leaves one that was given before, and zero takes that away and
// does nothing else.
func (c *Cluster) Disarm(ctx context.Context, act bool, until *time.Time) (Plan, error) {
	plan := Plan{Entries: []Entry{}, acted: act, ends: until != nil && until.IsZero()}
	var failed []error
	for _, resource := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		of := c.dynamic.Resource(admissionregistrationv1.SchemeGroupVersion.WithResource(resource))
		list, err := of.List(ctx, metav1.ListOptions{})
		if err != nil {
			failed = append(failed, inspect.Explain(err, c.host, "list", resource))
			continue
		}
		now, err := c.clock.Now()
		if err != nil {
			return plan, err
		}
		for i := range list.Items {
			if !IsCheckers(&list.Items[i]) {
				continue
			}
			plan.see(&list.Items[i], now)
			changes := plan.changes(&list.Items[i], until)
			if changes && act {
				err = ignore(ctx, of, &list.Items[i], until)
			}
			if plan.add(&list.Items[i], until, changes, err == nil); err != nil {
				failed = append(failed, inspect.Explain(err, c.host, "patch", list.Items[i].GetKind()+" "+list.Items[i].GetName()))
			}
		}
	}
	plan.Done = act && len(failed) == 0
	if until == nil && len(plan.Holds) > 0 && len(plan.Holds) == plan.Configurations {
		plan.Until = slices.MinFunc(plan.Holds, func(a, b Hold) int { return a.Until.Compare(b.Until) }).Until
	}
	return plan, errors.Join(failed...)
}

// see notes how a configuration is.
func (p *Plan) see(configuration *unstructured.Unstructured, now time.Time) {
	p.Configurations++
	if end := phases.HeldUntil(configuration.GetAnnotations(), now); !end.IsZero() {
		p.Held++
		p.Holds = append(p.Holds, Hold{configuration.GetKind(), configuration.GetName(), end})
	}
}

// changes says that a configuration is to be written.
func (p *Plan) changes(configuration *unstructured.Unstructured, until *time.Time) bool {
	if p.ends {
		return configuration.GetAnnotations()[Until] != ""
	}
	armed, _ := entries(configuration)
	return len(armed) > 0 || until != nil
}

// add notes what is done with a configuration, or could not be.
func (p *Plan) add(configuration *unstructured.Unstructured, until *time.Time, changes, done bool) {
	if changes && done && until != nil {
		p.marks++
		p.Until = *until
	}
	armed, ignored := entries(configuration)
	switch p.Ignored += ignored; {
	case p.ends:
	case done:
		p.Entries = append(p.Entries, armed...)
	default:
		p.Refused = append(p.Refused, armed...)
	}
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
	var err error
	_ = retry.RetryOnConflict(retry.DefaultBackoff, func() error { // which returns no error of a request whose time is over
		var patch []byte
		if patch, err = patchOf(seen, until); err != nil {
			return err
		}
		_, err = of.Patch(ctx, seen.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if !apierrors.IsConflict(err) {
			return err
		}
		fresh, again := of.Get(ctx, seen.GetName(), metav1.GetOptions{})
		if again != nil {
			err = again
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
		if until != nil && until.IsZero() {
			break // what ends a hold disarms nothing
		}
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
	does, again, takes := "is to be set to Ignore", "is to set", "It is to take"
	if p.acted {
		does, again, takes = "is set to Ignore", "sets", "It takes"
	}
	var text strings.Builder
	for _, e := range p.Entries {
		fmt.Fprintf(&text, "%s %s, webhook %s, %s\n", e.Kind, e.Configuration, e.Webhook, does)
	}
	for _, e := range p.Refused {
		fmt.Fprintf(&text, "%s %s, webhook %s, could not be set to Ignore\n", e.Kind, e.Configuration, e.Webhook)
	}
	if p.Ignored > 0 && !p.ends {
		fmt.Fprintf(&text, "Left alone, since they are ignored while nobody answers: %d\n", p.Ignored)
	}
	switch {
	case !p.Until.IsZero():
		fmt.Fprintf(&text, "The operator %s none of them back before %s\n", again, p.Until.UTC().Format(time.RFC3339))
	case p.ends && p.marks > 0:
		fmt.Fprintf(&text, "The operator %s them back as soon as it can, and no later time counts any more\n", again)
	}
	for _, h := range p.Holds {
		switch until := h.Until.UTC().Format(time.RFC3339); {
		case p.marks > 0 && !h.Until.Equal(p.Until):
			fmt.Fprintf(&text, "%s the place of the time that was said before for %s %s: %s\n", takes, h.Kind, h.Configuration, until)
		case p.Until.IsZero():
			fmt.Fprintf(&text, "%s %s is not set back before %s, as was said before\n", h.Kind, h.Configuration, until)
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
