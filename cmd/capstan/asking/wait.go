package asking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/controllers/view"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/message"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// lookEvery is how often the operator's report is read while it is waited for.
const lookEvery = 250 * time.Millisecond

// seen is what the operator tells of itself.
type seen struct {
	record machine.Record
	detail phases.Detail
}

// Asked is what the operator is to say something of.
type Asked struct {
	Name string
	Act  *acts.Act // nil: it was taken away
	// Objects are those that somebody has named just now, each of which the operator has to know.
	Objects []string
	// Word is that of another attempt, and Unlisted are the numbers of revisions that were taken off the list. Each is in place of an act.
	Word     string
	Unlisted []int64
}

// Wait waits until the operator says that it obeys an act, or that it does not any more. A request that is under way when the
// time is over comes to its end.
func (c *Cluster) Wait(ctx context.Context, asked Asked, timeout time.Duration) error {
	over := time.NewTimer(timeout)
	defer over.Stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		now, unread := c.told(ctx)
		if unread == nil {
			done, refused := confirmed(now, asked)
			if done || refused != nil {
				return refused
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return errors.Join(fmt.Errorf("the operator has not said within %s what it makes of it: %s", timeout, c.running(ctx)), unread)
		}
	}
}

// confirmed says that the operator has come to where an act, or its end, leads; refused why it will not.
func confirmed(now seen, asked Asked) (done bool, refused error) {
	if asked.Word != "" {
		return now.detail.Retry == asked.Word, nil
	}
	if len(asked.Unlisted) > 0 {
		return now.record.State != "" && !slices.ContainsFunc(now.detail.Revisions, func(r guards.Revision) bool { return slices.Contains(asked.Unlisted, r.Number) }), nil
	}
	if asked.Act == nil && asked.Name != acts.Pause {
		return now.record.State != "" && !slices.ContainsFunc(now.detail.Acts, func(a guards.Act) bool { return a.Name == asked.Name }), nil
	}
	if asked.Act == nil {
		return now.record.State != "" && now.record.State != table.Paused, nil
	}
	for _, told := range now.detail.Acts {
		if !same(told, *asked.Act) {
			continue
		}
		if asked.Name == acts.ConsentToUninstall {
			return uninstalls(now, told)
		}
		if told.Void != "" {
			return false, &inspect.Error{What: "the operator does not obey: " + told.String(), Next: "take it back with " + TakesBack(asked)}
		}
		if asked.Name == acts.Adopt {
			return adopted(now, asked.Objects), nil
		}
		if asked.Name == acts.ConsentToDelete {
			return consented(now, asked.Objects, told.At)
		}
		if asked.Name == acts.LeaveAlone {
			return true, unknown(now.detail.LeftAlone, asked.Objects)
		}
		if asked.Name == acts.Pause {
			return now.record.State == table.Paused, nil
		}
		return told.Waits == "", nil
	}
	return false, nil
}

// TakesBack is the command that takes an act back.
func TakesBack(asked Asked) string {
	if asked.Name == acts.Adopt {
		return "kubectl annotate clusterapi " + phases.Singleton + " " + acts.AdoptAct + "-"
	}
	if asked.Name == acts.ConsentToDelete {
		return Unconsent
	}
	if asked.Name == acts.ConsentToUninstall {
		return UnconsentToUninstall
	}
	if asked.Name == acts.Pin {
		return "capstan unpin"
	}
	return Command(Resume, asked.Objects)
}

// Resume is the command that ends a pause, or that objects are left alone. Without objects it is the whole pause, whoever asked for it.
const Resume = "capstan resume"

// Command is a command about objects, as a shell takes it.
func Command(command string, objects []string) string {
	words := []string{command}
	for _, o := range objects {
		words = append(words, message.ShellWord(strings.Replace(o, " ", "/", 1)))
	}
	return strings.Join(words, " ")
}

// unknown says which of the objects no revision has that counts; nil if each is known.
func unknown(left []guards.LeftAlone, objects []string) error {
	var names []string
	for _, l := range left {
		if l.Nowhere && slices.Contains(objects, l.Object) {
			names = append(names, l.Object)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &inspect.Error{
		What: "neither the newest revision nor the one that is installed has " + strings.Join(names, ", ") + "; what else is named is left alone",
		Next: "look for the kind, its API group and the namespace, and take back what is wrong: " + Command(Resume, names),
	}
}

func same(told guards.Act, act acts.Act) bool {
	return told.Name == act.Name && told.At.Equal(act.At) && (told.By == act.By || told.By == "")
}

// told reads what the operator has published.
func (c *Cluster) told(ctx context.Context) (seen, error) {
	object, err := c.dynamic.Resource(configv1.GroupVersion.WithResource("clusteroperators")).Get(ctx, phases.ClusterOperatorName, metav1.GetOptions{})
	if err != nil {
		return seen{}, inspect.Explain(err, c.host, "get", "ClusterOperator "+phases.ClusterOperatorName)
	}
	operator := &configv1.ClusterOperator{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, operator); err != nil {
		return seen{}, fmt.Errorf("reading ClusterOperator %s: %w", phases.ClusterOperatorName, err)
	}
	var now seen
	var problem string
	if now.record, problem = view.Published(view.TableOf(table.Table), phases.ClusterOperatorName, operator, &now.detail); problem != "" {
		return seen{}, errors.New(problem)
	}
	return now, nil
}

// running says whether an operator is at work, as far as its Lease tells.
func (c *Cluster) running(ctx context.Context) string {
	return inspect.Running(ctx, c.leases, c.clock, c.namespace, c.lease)
}
