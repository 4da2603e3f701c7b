package linked_test

import (
	"fmt"

	"pgregory.net/rapid"
)

// The generators make objects in version v1beta1 as controllers write them: all that they have is in v1beta2, too.

const (
	core           = "cluster.x-k8s.io/v1beta1"
	infrastructure = "infrastructure.cluster.x-k8s.io/v1beta2"
	bootstrap      = "bootstrap.cluster.x-k8s.io/v1beta2"
)

type fields = map[string]any

// some gives an object fields, each or not.
func some(t *rapid.T, object fields, optional fields) fields {
	for _, key := range sorted(optional) {
		if rapid.Bool().Draw(t, "has "+key) {
			object[key] = optional[key]
		}
	}
	return object
}

func word(t *rapid.T, of string) string {
	return rapid.StringMatching(`[a-z][a-z0-9]{0,8}`).Draw(t, of)
}

func seconds(t *rapid.T, of string) string {
	return fmt.Sprintf("%ds", rapid.IntRange(1, 59).Draw(t, of))
}

func labels(t *rapid.T, of string) fields {
	return fields{"cluster.x-k8s.io/cluster-name": word(t, of), "text": "cluster.x-k8s.io/v1beta1"}
}

func metadata(t *rapid.T, kind string) fields {
	return some(t, fields{"name": word(t, "name"), "namespace": "ns", "creationTimestamp": "2026-01-01T12:00:00Z", "uid": word(t, "uid"), "resourceVersion": "12345678901234567890"}, fields{
		"labels": labels(t, "labels"), "annotations": fields{"note": "<" + kind + "> & infrastructure.cluster.x-k8s.io"}, "finalizers": []any{"cluster.x-k8s.io/" + kind},
		"ownerReferences": []any{fields{"apiVersion": core, "kind": "Cluster", "name": "c", "uid": word(t, "owner"), "controller": true}},
	})
}

func reference(t *rapid.T, apiVersion, kind string) fields {
	return fields{"apiVersion": apiVersion, "kind": kind, "name": word(t, kind), "namespace": "ns"}
}

func conditions(t *rapid.T) []any {
	return []any{fields{
		"type": "Ready", "status": rapid.SampledFrom([]string{"True", "False", "Unknown"}).Draw(t, "status"),
		"lastTransitionTime": "2026-01-01T12:00:00Z", "reason": "Because", "message": word(t, "message"), "severity": "Info",
	}}
}

func machineSpec(t *rapid.T) fields {
	return some(t, fields{
		"clusterName": "c", "infrastructureRef": reference(t, infrastructure, "AWSMachine"),
		"bootstrap": fields{"configRef": reference(t, bootstrap, "KubeadmConfig")},
	}, fields{
		"version": "v1.36.3", "providerID": "aws:///" + word(t, "instance"), "failureDomain": word(t, "zone"), "nodeDrainTimeout": seconds(t, "drain"),
		"nodeVolumeDetachTimeout": seconds(t, "detach"), "nodeDeletionTimeout": seconds(t, "deletion"), "readinessGates": []any{fields{"conditionType": "Ready"}},
	})
}

func machine(t *rapid.T) fields {
	return fields{"apiVersion": core, "kind": "Machine", "metadata": metadata(t, "machine"), "spec": machineSpec(t), "status": some(t, fields{
		"bootstrapReady": rapid.Bool().Draw(t, "bootstrapReady"), "infrastructureReady": rapid.Bool().Draw(t, "infrastructureReady"),
	}, fields{
		"phase": "Running", "observedGeneration": rapid.IntRange(1, 9).Draw(t, "generation"),
		"conditions": conditions(t), "addresses": []any{fields{"type": "InternalIP", "address": "10.0.0.1"}}, "failureMessage": word(t, "failure"),
		"nodeRef": fields{"apiVersion": "v1", "kind": "Node", "name": word(t, "node")},
	})}
}

func cluster(t *rapid.T) fields {
	return fields{"apiVersion": core, "kind": "Cluster", "metadata": metadata(t, "cluster"), "spec": some(t, fields{"controlPlaneEndpoint": fields{"host": word(t, "host"), "port": 6443}}, fields{
		"paused": true, "infrastructureRef": reference(t, infrastructure, "AWSCluster"), "controlPlaneRef": reference(t, "controlplane.cluster.x-k8s.io/v1beta2", "KubeadmControlPlane"),
		"clusterNetwork": some(t, fields{"apiServerPort": 6443}, fields{"services": fields{"cidrBlocks": []any{"10.0.0.0/16"}}, "pods": fields{"cidrBlocks": []any{"10.1.0.0/16"}}, "serviceDomain": word(t, "domain")}),
	}), "status": some(t, fields{
		"controlPlaneReady": rapid.Bool().Draw(t, "controlPlaneReady"), "infrastructureReady": rapid.Bool().Draw(t, "infrastructureReady"),
	}, fields{
		"phase": "Provisioned", "conditions": conditions(t), "observedGeneration": 2,
	})}
}

func set(t *rapid.T, kind string, more fields) fields {
	selector := fields{"matchLabels": fields{"set": word(t, "selector")}}
	return fields{"apiVersion": core, "kind": kind, "metadata": metadata(t, "set"), "spec": some(t, fields{
		"clusterName": "c", "selector": selector, "replicas": rapid.IntRange(0, 500).Draw(t, "replicas"),
		"template": fields{"metadata": fields{"labels": selector["matchLabels"]}, "spec": machineSpec(t)},
	}, more), "status": some(t, counts(t, kind), fields{"conditions": conditions(t), "observedGeneration": 2})}
}

// counts are those that version v1beta1 always writes.
func counts(t *rapid.T, kind string) fields {
	names := map[string][]string{
		"MachineSet":        {"replicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"},
		"MachineDeployment": {"replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas"},
	}
	all := fields{}
	for _, of := range names[kind] {
		all[of] = rapid.IntRange(0, 500).Draw(t, of)
	}
	return all
}

// kinds are generators by kind.
var kinds = map[string]func(*rapid.T) fields{
	"Machine": machine,
	"Cluster": cluster,
	"MachineSet": func(t *rapid.T) fields {
		return set(t, "MachineSet", fields{"deletePolicy": "Oldest", "minReadySeconds": 5})
	},
	"MachineDeployment": func(t *rapid.T) fields {
		return set(t, "MachineDeployment", fields{"paused": true, "strategy": fields{"type": "RollingUpdate", "rollingUpdate": fields{"maxSurge": 1, "maxUnavailable": "10%"}}})
	},
}
