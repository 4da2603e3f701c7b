package guest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/capstan-capi/capstan/machine"
)

// What guests are asked for.
const (
	readyPath     = "/readyz"
	versionPath   = "/version"
	nodesPath     = "/api/v1/nodes"
	bootstrapPath = "/api/v1/namespaces/kube-system/configmaps/bootstrap"
	endpointsPath = "/api/v1/namespaces/openshift-etcd/configmaps/etcd-endpoints"
	etcdPath      = "/apis/operator.openshift.io/v1/etcds/cluster"
	releasePath   = "/apis/config.openshift.io/v1/clusterversions/version"
	operatorsPath = "/apis/config.openshift.io/v1/clusteroperators"

	// bootstrapRemoved is the condition of etcds/cluster that says that etcd has lost its member on the bootstrap machine.
	bootstrapRemoved = "EtcdBootstrapMemberRemoved"
	// membersAvailable is the one that says how many members are.
	membersAvailable = "EtcdMembersAvailable"
	// pageMost is how many objects a list may have at once, and pagesMost how many pages of Nodes are looked through for those whose names are
	// not known: ClusterOperators are some forty.
	pageMost, pagesMost = 100, 20
	// nodesAtOnce is how many Nodes are asked for at once. Each has up to fifty images.
	nodesAtOnce = "50"
)

// look asks a guest for everything that is wanted.
func (p *Poller) look(ctx context.Context, g *guest, want wanted) sight {
	l, by, err := p.lineOf(ctx, g, want.cluster)
	if err != nil {
		return sight{problem: err.Error()}
	}
	s := p.lookBy(ctx, g, want, l, by)
	s.leads = by.leads
	return s
}

// lookBy does so by a kubeconfig.
func (p *Poller) lookBy(ctx context.Context, g *guest, want wanted, l *line, by kubeconfig) sight {
	begun := p.clock.Now()
	err := l.get(ctx, readyPath, "", nil)
	p.probed(g.key, p.clock.Since(begun), err == nil)
	if err != nil {
		return sight{problem: machine.Shorten(err.Error(), textMost), refused: isRefusal(err)}
	}
	s := sight{api: true}
	unread := s.askVersions(ctx, l)
	if unread != nil {
		s.who.Unread = machine.Shorten(unread.Error(), textMost)
	}
	if err := p.vouch(ctx, g, by, want, &s); err != nil {
		return sight{problem: err.Error()}
	}
	if unread != nil {
		return s.broken(unread).of(want)
	}
	if s = s.of(want); !s.api {
		return s
	}
	for _, ask := range []func() error{
		func() error { return s.askOperators(ctx, l) },
		func() error { return s.askNodes(ctx, l, want.nodes) },
		func() error { return s.askBootstrap(ctx, l, want.finished) },
		func() error { return s.askEtcd(ctx, l, want.finished, want.managed) },
	} {
		if err := ask(); err != nil {
			return s.broken(err)
		}
	}
	s.read = true
	return s
}

// broken is what is known where something could not be read though the API answers.
func (s *sight) broken(err error) sight {
	return sight{api: true, who: s.who, problem: machine.Shorten(err.Error(), textMost)}
}

func (s *sight) askVersions(ctx context.Context, l *line) error {
	var of version.Info
	if err := l.get(ctx, versionPath, "", &of); err != nil {
		return err
	}
	s.kubernetes = text(of.GitVersion)
	return s.askRelease(ctx, l)
}

// askRelease reads what release the guest has, and how its ClusterVersion is.
func (s *sight) askRelease(ctx context.Context, l *line) error {
	release := &configv1.ClusterVersion{}
	switch err := l.get(ctx, releasePath, "", release); {
	case isMissing(err):
		s.operators = append(s.operators, operator{name: clusterVersionName})
		return nil
	case err != nil:
		return err
	}
	s.version, s.who.ID = versionOf(release), text(string(release.Spec.ClusterID))
	is := operatorOf(clusterVersionName, release.Status.Conditions, nil)
	// Its own word for degraded is Failing.
	is.degraded, _, _ = condition(release.Status.Conditions, "Failing")
	is.has = s.version.done.version
	s.operators = append(s.operators, is)
	return nil
}

func (s *sight) askOperators(ctx context.Context, l *line) error {
	list := &listOf[configv1.ClusterOperator]{}
	switch err := l.get(ctx, operatorsPath, "", list); {
	case isMissing(err):
		s.operators = append(s.operators, operator{name: "all ClusterOperators, whose kind is not served"})
		return nil
	case err != nil:
		return err
	}
	for i := range list.Items {
		o := &list.Items[i]
		s.operators = append(s.operators, operatorOf(named("ClusterOperator", text(o.Name)), o.Status.Conditions, o.Status.Versions))
	}
	return nil
}

// askNodes reads the Nodes of Machines: each by its name, and all where a name is not known.
func (s *sight) askNodes(ctx context.Context, l *line, machines []ofMachine) error {
	if slices.ContainsFunc(machines, func(m ofMachine) bool { return m.node == "" }) {
		return s.findNodes(ctx, l, machines)
	}
	for _, m := range machines {
		one := &corev1.Node{}
		switch err := l.get(ctx, nodesPath+"/"+url.PathEscape(m.node), "", one); {
		case isMissing(err):
		case err != nil:
			return err
		default:
			s.nodes = append(s.nodes, nodeOf(one))
		}
	}
	return nil
}

// findNodes looks through all Nodes for those of Machines. Of two that call themselves the same one or the other is kept.
func (s *sight) findNodes(ctx context.Context, l *line, machines []ofMachine) error {
	query := url.Values{"limit": {nodesAtOnce}}
	for range pagesMost {
		list := &listOf[corev1.Node]{}
		if err := l.get(ctx, nodesPath, query.Encode(), list); err != nil {
			return err
		}
		for i := range list.Items {
			n := nodeOf(&list.Items[i])
			if len(s.nodes) < 2*len(machines) && slices.ContainsFunc(machines, func(m ofMachine) bool {
				return m.node != "" && m.node == n.name || m.providerID != "" && m.providerID == n.providerID
			}) {
				s.nodes = append(s.nodes, n)
			}
		}
		next := list.Metadata.Continue
		if next == "" {
			return nil
		}
		if len(next) > messageMost {
			return errors.New("where its list of Nodes goes on it tells in more bytes than are allowed")
		}
		query.Set("continue", next)
	}
	return nil
}

func nodeOf(n *corev1.Node) node {
	found := node{name: text(n.Name), providerID: text(n.Spec.ProviderID), ready: slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})}
	for _, at := range n.Status.Addresses {
		if (at.Type == corev1.NodeInternalIP || at.Type == corev1.NodeExternalIP) && len(found.addresses) < addressesMost {
			found.addresses = append(found.addresses, text(at.Address))
		}
	}
	return found
}

// askBootstrap reads how far the bootstrap is, unless that is over.
func (s *sight) askBootstrap(ctx context.Context, l *line, finished bool) error {
	if finished {
		return nil
	}
	said := &corev1.ConfigMap{}
	if err := l.get(ctx, bootstrapPath, "", said); err != nil && !isMissing(err) {
		return err
	}
	s.complete = said.Data["status"] == "complete"
	return nil
}

// askEtcd reads what etcd says of its members: until the bootstrap is over, and where somebody acts on it.
func (s *sight) askEtcd(ctx context.Context, l *line, finished, managed bool) error {
	if finished && !managed {
		return nil
	}
	etcd := &operatorv1.Etcd{}
	if err := l.get(ctx, etcdPath, "", etcd); err != nil && !isMissing(err) {
		return err
	}
	removed := operatorCondition(etcd, bootstrapRemoved)
	s.etcdAlone = removed != nil && removed.Status == operatorv1.ConditionTrue
	if !managed {
		return nil
	}
	said := &corev1.ConfigMap{}
	if err := l.get(ctx, endpointsPath, "", said); err != nil {
		if isMissing(err) {
			return nil
		}
		return err
	}
	s.etcd = membersOf(etcd)
	if len(said.Data) > membersMost {
		return fmt.Errorf("it answers %s with more members than are allowed", endpointsPath)
	}
	for _, address := range said.Data {
		s.etcd.Endpoints = append(s.etcd.Endpoints, text(strings.TrimSpace(address)))
	}
	slices.Sort(s.etcd.Endpoints)
	return nil
}

func operatorCondition(etcd *operatorv1.Etcd, is string) *operatorv1.OperatorCondition {
	for i := range etcd.Status.Conditions {
		if etcd.Status.Conditions[i].Type == is {
			return &etcd.Status.Conditions[i]
		}
	}
	return nil
}

// membersOf reads which members are not healthy. The guest's operator says that in words only, which are those of its members' names
// as far as they are understood; all else is a problem of nobody's.
func membersOf(etcd *operatorv1.Etcd) Etcd {
	found := Etcd{Known: true}
	said := operatorCondition(etcd, membersAvailable)
	if said == nil {
		found.Problem = "its etcds/cluster has no condition " + membersAvailable
		return found
	}
	message := said.Message[:min(len(said.Message), messageMost)]
	rest, all := strings.CutSuffix(message, " members are available")
	if all && said.Status == operatorv1.ConditionTrue && !strings.Contains(rest, " ") {
		return found
	}
	for i, part := range strings.Split(message, ", ") {
		name, unhealthy := strings.CutSuffix(part, " is unhealthy")
		if !unhealthy {
			name, unhealthy = strings.CutSuffix(part, " has not started")
		}
		switch {
		case unhealthy && len(found.Unhealthy) < membersMost:
			found.Unhealthy = append(found.Unhealthy, text(name))
		case i > 0 || !strings.HasSuffix(part, " members are available"):
			found.Problem = "its etcd says: " + words(message)
		}
	}
	if len(found.Unhealthy) == 0 && found.Problem == "" {
		found.Problem = "its etcd says: " + words(message)
	}
	slices.Sort(found.Unhealthy)
	return found
}
