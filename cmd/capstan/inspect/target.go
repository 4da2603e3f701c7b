package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/controllers/view"
	"github.com/capstan-capi/capstan/machine"
)

// Target says which machine to look at, and where.
type Target struct {
	Access
	// Views are those of all machines; the first is looked at unless another is named.
	Views   []view.View
	Machine string
	Key     string
	// Instead, unless nil, is looked at in place of a cluster.
	Instead Source
}

// Source is what is looked at: a cluster, or what was collected of one.
type Source interface {
	Get(ctx context.Context, kind schema.GroupVersionResource, word, namespace, name string, into any) (bool, error)
	Names(ctx context.Context, of view.Instances, few int64) (names []string, others int64, err error)
}

func (t *Target) source() (Source, error) {
	if t.Instead != nil {
		return t.Instead, nil
	}
	return t.Reader()
}

// Flags adds the flags of a target.
func (t *Target) Flags(flags *pflag.FlagSet) {
	t.Access.Flags(flags)
	var keyed []string
	for _, v := range t.Views {
		if v.Instances != nil {
			keyed = append(keyed, v.Instances.Word+" for "+v.Table.Name)
		}
	}
	flags.StringVar(&t.Machine, "machine", t.Views[0].Table.Name, "`name` of the machine to look at: "+t.named())
	flags.StringVar(&t.Key, "key", "", "`name` of the object to look at, where a machine has an instance for each: a "+strings.Join(keyed, ", a "))
}

func (t *Target) named() string {
	var names []string
	for _, v := range t.Views {
		names = append(names, v.Table.Name)
	}
	return strings.Join(names, ", ")
}

// View is that of the machine. A key that cannot name an instance of it is an error.
func (t *Target) View() (view.View, error) {
	i := slices.IndexFunc(t.Views, func(v view.View) bool { return v.Table.Name == t.Machine })
	if i < 0 {
		return view.View{}, &Error{What: fmt.Sprintf("there is no machine %q", t.Machine), Next: "name one of these with --machine: " + t.named()}
	}
	of := t.Views[i]
	switch {
	case t.Key == "":
	case of.Instances == nil:
		return view.View{}, &Error{
			What: fmt.Sprintf("machine %s has one instance only, which no key names: there is no %q", t.Machine, t.Key),
			Next: "leave out --key, or name the machine that it is of with --machine: " + t.named(),
		}
	case !of.Instances.IsKey(t.Key) && of.Instances.Form != "":
		return view.View{}, &Error{
			What: fmt.Sprintf("%q cannot be the key of machine %s", t.Key, t.Machine), Next: "give --key the form " + of.Instances.Form,
		}
	case !of.Instances.IsKey(t.Key):
		return view.View{}, &Error{
			What: fmt.Sprintf("%q cannot be the key of machine %s, which is the name of a %s, without a namespace", t.Key, t.Machine, of.Instances.Word),
			Next: "give the name alone with --key",
		}
	}
	return of, nil
}

// Looker finds the cluster and binds to it; nothing is sent before it looks. That an object does not exist is an error of the
// first look only: one that goes away later is told.
func (t *Target) Looker() (func(context.Context) (View, error), error) {
	of, err := t.View()
	if err != nil {
		return nil, err
	}
	source, err := t.source()
	if err != nil {
		return nil, err
	}
	first, instance := true, ""
	if of.Instances != nil {
		instance = of.Instances.Word + " " + t.Key
	}
	return func(ctx context.Context) (View, error) {
		if of.Instances != nil && t.Key == "" {
			return View{}, t.choose(ctx, source, *of.Instances, "--key is missing: machine "+t.Machine+" has an instance for each "+of.Instances.Word)
		}
		seen, err := of.Look(ctx, source.Get, machine.Key(t.Key))
		if err == nil && seen.Absent && first {
			err = t.choose(ctx, source, *of.Instances, seen.Problem)
		}
		first = false
		return View{Seen: seen, Table: of.Table, Instance: instance}, err
	}, nil
}

// keysNamed is how many keys an error names.
const keysNamed = 5

// choose is the error that has people choose another key, with the first of those there are.
func (t *Target) choose(ctx context.Context, source Source, of view.Instances, what string) error {
	names, others, err := source.Names(ctx, of, keysNamed)
	next := "name one with --key: " + strings.Join(names, ", ")
	switch {
	case apierrors.IsForbidden(err):
		next = "name one with --key; whoever may list them sees them by `kubectl get " + of.Kind.Resource + "`"
	case err != nil:
		return err
	case len(names) == 0:
		what += ", and there is none on this cluster"
		next = "create one, or leave out --machine and --key to look at " + t.Views[0].Table.Name
	case others < 0:
		next += ", and others"
	case others > 0:
		next += fmt.Sprintf(", and %d more", others)
	}
	return &Error{What: what, Next: next}
}

// Look finds the cluster and reads it once.
func (t *Target) Look(ctx context.Context) (View, error) {
	look, err := t.Looker()
	if err != nil {
		return View{}, err
	}
	return look(ctx)
}
