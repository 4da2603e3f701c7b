package creating

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capstan-capi/capstan/api/v1alpha1"
)

const (
	// workerPool is the name of a pool of workers that has none, and of the one that there is if there are none at all.
	workerPool = "worker"
	// controlPlanePool and bootstrapPool end the names of templates, as pools do.
	controlPlanePool = "control-plane"
	bootstrapPool    = "bootstrap"
)

// pool is a pool of workers.
type pool struct {
	name     string
	replicas int
	// given is the pool in the install-config, and at the field that it stands in.
	given any
	at    string
}

// pools are those of workers. There is always one, so that workers can be added by its replicas; one without replicas has none.
func (c *creation) pools() []pool {
	raw, _ := c.in.Raw["compute"].([]any)
	var pools []pool
	seen := map[string]bool{}
	for i, given := range c.in.Config.Compute {
		one := pool{name: cmp.Or(given.Name, workerPool), at: fmt.Sprintf("compute[%d]", i)}
		if i < len(raw) {
			one.given = raw[i]
		}
		if given.Replicas != nil {
			one.replicas = *given.Replicas
		}
		switch {
		case len(validation.IsDNS1123Label(one.name)) > 0:
			c.problem(one.at+".name", "it is no name of a pool; give it lowercase letters, digits and -")
		case one.name == controlPlanePool || one.name == bootstrapPool:
			c.problem(one.at+".name", "it is kept for machines of the control plane; give the pool another name")
		case seen[one.name]:
			c.problem(one.at+".name", "another pool has the same name; give each its own")
		}
		seen[one.name] = true
		pools = append(pools, one)
	}
	if pools == nil {
		pools = []pool{{name: workerPool, at: "compute"}}
	}
	return pools
}

// workers are a config template, and for each pool a MachineDeployment, or one for each of its zones.
func (c *creation) workers(pools []pool, on infrastructure) []any {
	all := []any{&v1alpha1.OpenShiftConfigTemplate{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ConfigTemplateKind},
		ObjectMeta: c.meta(c.name() + "-" + workerPool),
		Spec:       v1alpha1.OpenShiftConfigTemplateSpec{Template: v1alpha1.OpenShiftConfigTemplateResource{Spec: v1alpha1.OpenShiftConfigSpec{Role: v1alpha1.WorkerRole}}},
	}}
	for _, one := range pools {
		name, zones := c.name()+"-"+one.name, on.zones[one.name]
		if len(zones) == 0 {
			all = append(all, c.deployment(name, one.replicas, "", on.workers[one.name]))
		}
		for i, zone := range zones {
			// The first zones have one more, as the installer does it.
			share := one.replicas / len(zones)
			if i < one.replicas%len(zones) {
				share++
			}
			all = append(all, c.deployment(name+"-"+zone, share, zone, on.workers[one.name]))
		}
	}
	return all
}

func (c *creation) deployment(name string, replicas int, zone string, template reference) *clusterv1.MachineDeployment {
	count := int32(replicas)
	labels := map[string]string{clusterv1.ClusterNameLabel: c.name(), clusterv1.MachineDeploymentNameLabel: labelled(name)}
	d := &clusterv1.MachineDeployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachineDeployment"},
		ObjectMeta: c.meta(name),
		Spec: clusterv1.MachineDeploymentSpec{
			ClusterName: c.name(), Replicas: &count, Selector: metav1.LabelSelector{MatchLabels: labels},
			Template: clusterv1.MachineTemplateSpec{
				ObjectMeta: clusterv1.ObjectMeta{Labels: labels},
				Spec: clusterv1.MachineSpec{
					ClusterName:       c.name(),
					Bootstrap:         clusterv1.Bootstrap{ConfigRef: reference{Kind: v1alpha1.ConfigTemplateKind, Name: c.name() + "-" + workerPool, APIGroup: v1alpha1.GroupVersion.Group}},
					InfrastructureRef: template,
					FailureDomain:     zone,
				},
			},
		},
	}
	return d
}
