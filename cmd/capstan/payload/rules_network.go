package payload

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// providerPorts are where providers made with kubebuilder listen: webhooks, which
// the API server calls, and metrics.
var providerPorts = map[string]bool{"9443": true, "8443": true}

// listener is a set of pods, the ports that others than the kubelet call, and those of probes, which may be open.
type listener struct {
	where     *document
	namespace string
	labels    labels.Set // nil for any pod of the namespace
	names     map[string]string
	needed    map[string]bool
	probed    map[string]bool
}

// checkNetwork wants every namespace to be closed by default, each port that is
// needed to be open and no other but those of probes, and all that goes out.
func (p *payload) checkNetwork() []Problem {
	var problems []Problem
	for _, d := range p.documents {
		if d.GetKind() == "Namespace" && !slices.ContainsFunc(p.policies(d.GetName()), policy.deniesAll) {
			problems = append(problems, d.problem(networkRules, "", "no NetworkPolicy denies all pods what is not allowed"))
		}
	}
	for _, l := range p.listeners() {
		problems = append(problems, p.checkListener(l)...)
	}
	return problems
}

func (p *payload) listeners() []listener {
	var found []listener
	for _, d := range p.documents {
		if d.GetKind() == "Namespace" && d.GetName() == "openshift-cluster-api" {
			found = append(found, listener{where: d, namespace: d.GetName(), needed: maps.Clone(providerPorts)})
		}
		deployment := d.deployment()
		if deployment == nil {
			continue
		}
		l := listener{where: d, namespace: d.GetNamespace(), labels: deployment.Spec.Template.Labels, names: map[string]string{}, needed: map[string]bool{}, probed: map[string]bool{}}
		for _, container := range d.containers() {
			for _, port := range container.Ports {
				number := strconv.Itoa(int(port.ContainerPort))
				l.names[port.Name] = number
				l.needed[number] = true
			}
		}
		// Most networks let the kubelet in whatever a policy says.
		for _, container := range d.containers() {
			for _, probe := range []*corev1.Probe{container.LivenessProbe, container.ReadinessProbe, container.StartupProbe} {
				if probe != nil && probe.HTTPGet != nil {
					number := l.number(probe.HTTPGet.Port.String())
					delete(l.needed, number)
					l.probed[number] = true
				}
			}
		}
		found = append(found, l)
	}
	return found
}

// number is a port's number, whether it is given by name or by number.
func (l listener) number(port string) string {
	if number := l.names[port]; number != "" {
		return number
	}
	return port
}

func (p *payload) checkListener(l listener) []Problem {
	var problems []Problem
	open, out := map[string]bool{}, false
	for _, policy := range p.policies(l.namespace) {
		if !policy.selects(l.labels) {
			continue
		}
		out = out || slices.ContainsFunc(policy.Spec.Egress, func(r networkingv1.NetworkPolicyEgressRule) bool { return len(r.To) == 0 && len(r.Ports) == 0 })
		for i, rule := range policy.Spec.Ingress {
			path := fmt.Sprintf("spec.ingress[%d]", i)
			if len(rule.Ports) == 0 {
				problems = append(problems, policy.where.problem(networkRules, path, "opens every port of %s", l.where))
			}
			for _, port := range rule.Ports {
				if port.Port == nil || port.EndPort != nil {
					problems = append(problems, policy.where.problem(networkRules, path, "opens more than one port of %s", l.where))
					continue
				}
				number := l.number(port.Port.String())
				open[number] = true
				if !l.needed[number] && !l.probed[number] {
					problems = append(problems, policy.where.problem(networkRules, path, "opens port %s of %s, which nobody needs", port.Port, l.where))
				}
			}
		}
	}
	for _, port := range slices.Sorted(maps.Keys(l.needed)) {
		if !open[port] {
			problems = append(problems, l.where.problem(networkRules, "", "port %s is needed, and no NetworkPolicy opens it", port))
		}
	}
	if !out {
		problems = append(problems, l.where.problem(networkRules, "", "no NetworkPolicy lets its pods reach registries, clouds and the API server"))
	}
	return problems
}

type policy struct {
	networkingv1.NetworkPolicy
	where *document
}

func (p *payload) policies(namespace string) []policy {
	var found []policy
	for _, d := range p.documents {
		if d.GetKind() == "NetworkPolicy" && !d.isTombstone() && d.GetNamespace() == namespace {
			found = append(found, policy{*decode[networkingv1.NetworkPolicy](d), d})
		}
	}
	return found
}

func (n policy) deniesAll() bool {
	return n.selects(nil) && len(n.Spec.Ingress) == 0 && len(n.Spec.Egress) == 0 &&
		slices.Contains(n.Spec.PolicyTypes, networkingv1.PolicyTypeIngress) && slices.Contains(n.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
}

// selects says that a policy is for pods with these labels; without labels, for
// all pods of its namespace.
func (n policy) selects(pods labels.Set) bool {
	selector, err := metav1.LabelSelectorAsSelector(&n.Spec.PodSelector)
	return err == nil && (selector.Empty() || pods != nil && selector.Matches(pods))
}
