package machines

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	phases "github.com/capstan-capi/capstan/phases/openshiftcontrolplane"
)

// list lists Machines, configs and Secrets of the Cluster, and tells ours from others.
func (s *Seen) list(ctx context.Context, from client.Reader) error {
	here := s.here()
	machines := &clusterv1.MachineList{}
	if err := from.List(ctx, machines, here...); err != nil {
		return fmt.Errorf("listing Machines of Cluster %s: %w", s.cluster, err)
	}
	for i := range machines.Items {
		s.take(&machines.Items[i])
	}
	configs := &v1alpha1.OpenShiftConfigList{}
	if err := from.List(ctx, configs, here...); err != nil {
		return fmt.Errorf("listing OpenShiftConfigs of Cluster %s: %w", s.cluster, err)
	}
	for i := range configs.Items {
		if config := &configs.Items[i]; s.isOurs(config) {
			s.configs[config.Name] = config
		}
	}
	var err error
	if s.secrets, err = s.controlled(ctx, from, secrets); err != nil {
		return err
	}
	s.payload = slices.ContainsFunc(s.secrets, func(one metav1.PartialObjectMetadata) bool {
		return one.Name == payloadName(s.look.Plane.Name, v1alpha1.BootstrapRole)
	})
	slices.SortFunc(s.masters, func(a, b *clusterv1.Machine) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(s.workers)
	return nil
}

// here are the options of a list of what the Cluster has. What a cache holds is not copied: who changes a Machine has it be changeable first.
func (s *Seen) here() []client.ListOption {
	options := []client.ListOption{client.InNamespace(s.look.Plane.Namespace), client.UnsafeDisableDeepCopy}
	if s.cluster != "" {
		options = append(options, client.MatchingLabels{clusterv1.ClusterNameLabel: s.cluster})
	}
	return options
}

func (s *Seen) take(one *clusterv1.Machine) {
	switch {
	case !controlledBy(one, s.look.Plane.UID):
		if s.cluster != "" { // else they are anybody's
			s.workers = append(s.workers, one.Name)
		}
	case one.Name == phases.BootstrapName(s.look.Plane.Name):
		s.bootstrap = one
	default:
		s.masters = append(s.masters, one)
	}
}

// lookAgain reads the bootstrap Machine live where the mark names one that the list has not: a list that lags behind must not end
// the attempt.
func (s *Seen) lookAgain(ctx context.Context) error {
	marks := s.facts.Reached()
	if marks.Finished || marks.Bootstrap == "" || marks.Bootstrap == guards.Intended || s.bootstrap != nil {
		return nil
	}
	one := &clusterv1.Machine{}
	key := client.ObjectKey{Namespace: s.look.Plane.Namespace, Name: phases.BootstrapName(s.look.Plane.Name)}
	if err := s.maker.live.Get(ctx, key, one); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("reading Machine %s: %w", key, err)
	}
	if controlledBy(one, s.look.Plane.UID) {
		s.bootstrap = one
	}
	return nil
}

// isOurs says that config or infrastructure machine was made for the OpenShiftControlPlane, or is a Machine's that was. Somebody else
// may have the OpenShiftControlPlane own what is theirs, but under no name of ours.
func (s *Seen) isOurs(object metav1.Object) bool {
	if ownedBy(object, s.look.Plane.UID) && s.isName(object.GetName()) {
		return true
	}
	if s.bootstrap != nil && controlledBy(object, s.bootstrap.UID) {
		return true
	}
	return slices.ContainsFunc(s.masters, func(one *clusterv1.Machine) bool { return controlledBy(object, one.UID) })
}

// tell fills the facts that Machines alone tell.
func (s *Seen) tell() {
	b := guards.Bootstrap{Known: true, Removal: guards.Tally{Known: true, Wanted: 3}}
	b.Problem = s.maker.problems.with(client.ObjectKeyFromObject(s.look.Plane), s.look.Plane.UID)
	gone := func(left bool, what string) {
		if left {
			b.Removal.Missing = append(b.Removal.Missing, what)
			return
		}
		b.Removal.Done++
	}
	name := phases.BootstrapName(s.look.Plane.Name)
	if s.bootstrap != nil {
		b.UID, b.Attempt, b.Provisioned = string(s.bootstrap.UID), s.bootstrap.Annotations[v1alpha1.AttemptAnnotation], isProvisioned(s.bootstrap)
		b.Waits = s.waits(s.bootstrap)
	}
	gone(s.bootstrap != nil, "Machine "+name)
	gone(s.configs[name] != nil, "OpenShiftConfig "+name)
	gone(s.payload, "Secret "+payloadName(s.look.Plane.Name, v1alpha1.BootstrapRole))
	s.facts.Bootstrap = b
	s.facts.Provisioned = s.provisioned()
	s.facts.Attempt = s.attempt()
	s.facts.Workers = nil
	for _, name := range s.workers {
		s.facts.Workers = append(s.facts.Workers, "Machine "+name)
	}
	s.facts.Counts = s.counts()
	if s.unread != nil {
		s.facts.Bootstrap = guards.Bootstrap{Problem: machine.Shorten(s.unread.Error(), maxProblem)}
		s.facts.Attempt = guards.Tally{}
	}
}

// provisioned counts the control-plane Machines that have their infrastructure. One that is going has none to count on.
func (s *Seen) provisioned() guards.Tally {
	t := guards.Tally{Known: true, Wanted: s.replicas()}
	for i := range s.replicas() {
		one := s.master(masterName(s.look.Plane.Name, i))
		switch {
		case one != nil && one.DeletionTimestamp.IsZero() && isProvisioned(one):
			t.Done++
		case one != nil && one.DeletionTimestamp.IsZero():
			t.Missing = append(t.Missing, "Machine "+one.Name+cmp.Or(s.waits(one), why(one, clusterv1.MachineInfrastructureReadyCondition)))
		default:
			t.Missing = append(t.Missing, "Machine "+masterName(s.look.Plane.Name, i))
		}
	}
	return t
}

// why is what a Machine says of a condition that is not True, in brackets.
func why(one *clusterv1.Machine, condition string) string {
	c := meta.FindStatusCondition(one.Status.Conditions, condition)
	if c == nil || c.Status == metav1.ConditionTrue || c.Message == "" {
		return ""
	}
	const most = 120
	return " (" + brief(c.Message, most) + ")"
}

// waits is what the config of a Machine waits for, in brackets: without it nobody starts the machine, such as while an upload is waited
// for. It is empty for nothing.
func (s *Seen) waits(one *clusterv1.Machine) string {
	config := s.configs[one.Name]
	if config == nil || phases.ConfigWaits(config) == "" {
		return ""
	}
	const most = 300
	return fmt.Sprintf(" (OpenShiftConfig %s, %s: %s)", config.Name, config.Status.State, brief(phases.ConfigWaits(config), most))
}

// brief is a text on one line, of so many characters at most.
func brief(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}

// attempt counts what is left of all that was made, from the end: what there may be at most is known, what there was is not.
func (s *Seen) attempt() guards.Tally {
	var left []string
	if s.bootstrap != nil {
		left = append(left, "Machine "+s.bootstrap.Name)
	}
	for _, one := range s.masters {
		left = append(left, "Machine "+one.Name)
	}
	for name := range s.configs {
		left = append(left, "OpenShiftConfig "+name)
	}
	for i := range s.secrets {
		left = append(left, "Secret "+s.secrets[i].Name)
	}
	slices.Sort(left)
	const others = 9 // three payloads and their keys, four certificates, and the kubeconfig
	all := max(2*(s.replicas()+1)+others, len(left))
	return guards.Tally{Known: true, Done: all - len(left), Wanted: all, Missing: left}
}

// counts are what the status tells of control-plane Machines.
func (s *Seen) counts() guards.Counts {
	c := guards.Counts{Known: s.cluster != "", Selector: Selector(s.look.Plane, s.cluster), Replicas: len(s.masters)}
	for _, one := range s.masters {
		for condition, count := range map[string]*int{
			clusterv1.MachineReadyCondition: &c.Ready, clusterv1.MachineAvailableCondition: &c.Available, clusterv1.MachineUpToDateCondition: &c.UpToDate,
		} {
			if meta.IsStatusConditionTrue(one.Status.Conditions, condition) {
				*count++
			}
		}
	}
	return c
}

func (s *Seen) replicas() int {
	if s.look.Plane.Spec.Replicas == nil {
		return 0
	}
	return int(*s.look.Plane.Spec.Replicas)
}

// master is the control-plane Machine of a name, nil for none.
func (s *Seen) master(name string) *clusterv1.Machine {
	for _, one := range s.masters {
		if one.Name == name {
			return one
		}
	}
	return nil
}

func isProvisioned(one *clusterv1.Machine) bool {
	is := one.Status.Initialization.InfrastructureProvisioned
	return is != nil && *is
}
