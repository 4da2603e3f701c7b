package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	hostedNamespace = "clusters"
	hypershiftGroup = "hypershift.openshift.io"
	hostedClusters  = "/apis/" + hypershiftGroup + "/v1beta1/namespaces/" + hostedNamespace + "/hostedclusters"
	providerPrefix  = "infrastructure."
	capiVersion     = "v1beta2"
)

// hosted makes a hosted cluster and what belongs to it.
type hosted struct {
	*stage
	as   *bare
	name string
}

func (h hosted) namespace() string { return hostedNamespace + "-" + h.name }

// fields are those of an object.
type fields = map[string]any

// object creates one of Cluster API's with its status, and returns a reference to it.
func (h hosted) object(ctx context.Context, group, plural, kind, name string, owner, spec, status fields) (fields, error) {
	o := made(group+"/"+capiVersion, kind, name, h.namespace(), "spec", spec)
	metadata := o["metadata"].(fields)
	metadata["finalizers"] = []any{"bench.example.com/" + plural}
	if owner != nil {
		metadata["ownerReferences"] = []any{owner}
	}
	payload, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	path := "/apis/" + group + "/" + capiVersion + "/namespaces/" + h.namespace() + "/" + plural
	answer, err := h.as.send(ctx, http.MethodPost, path, "application/json", payload)
	if err != nil {
		return nil, err
	}
	var born struct{ Metadata struct{ UID string } }
	if err := json.Unmarshal(answer, &born); err != nil {
		return nil, fmt.Errorf("reading what was created at %s: %w", path, err)
	}
	if payload, err = json.Marshal(fields{"status": status}); err != nil {
		return nil, err
	}
	_, err = h.as.send(ctx, http.MethodPatch, path+"/"+name+"/status", "application/merge-patch+json", payload)
	return fields{"apiVersion": group + "/" + capiVersion, "kind": kind, "name": name, "uid": born.Metadata.UID, "controller": true, "blockOwnerDeletion": true}, err
}

func infrastructure(kind, name string) fields {
	return fields{"apiGroup": providerPrefix + standardGroup, "kind": kind, "name": name}
}

// create makes a cluster with a set of so many machines. Each has its provider's object and a Secret.
func (h hosted) create(ctx context.Context, machines int) error {
	err := h.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: h.namespace(), Labels: map[string]string{"hypershift.openshift.io/hosted-control-plane": "true"}, // as HyperShift has it
	}})
	if err != nil {
		return err
	}
	if err := h.as.create(ctx, hostedClusters, made(hypershiftGroup+"/v1beta1", "HostedCluster", h.name, hostedNamespace, "spec", fields{"platform": "None"})); err != nil {
		return err
	}
	top, err := h.object(ctx, standardGroup, "clusters", "Cluster", h.name, nil, fields{"infrastructureRef": infrastructure("TestCluster", h.name)}, fields{"phase": "Provisioned"})
	if err != nil {
		return err
	}
	set, err := h.object(ctx, standardGroup, "machinesets", "MachineSet", h.name, top, fields{
		"clusterName": h.name, "replicas": machines, "selector": fields{"matchLabels": fields{"set": h.name}},
		"template": fields{
			"metadata": fields{"labels": fields{"set": h.name}},
			"spec":     fields{"clusterName": h.name, "bootstrap": fields{"dataSecretName": "data"}, "infrastructureRef": infrastructure("TestMachineTemplate", h.name)},
		},
	}, fields{"replicas": machines, "observedGeneration": 1})
	if err != nil {
		return err
	}
	for _, name := range []string{"control-plane-operator", "cluster-api", "capi-provider"} {
		if err := h.component(ctx, name); err != nil {
			return fmt.Errorf("making the component %s: %w", name, err)
		}
	}
	return eachAtOnce(ctx, machines, func(ctx context.Context, i int) error { return h.machine(ctx, fmt.Sprintf("%s-%d", h.name, i), set) })
}

func (h hosted) machine(ctx context.Context, name string, set fields) error {
	m, err := h.object(ctx, standardGroup, "machines", "Machine", name, set, fields{
		"clusterName": h.name, "bootstrap": fields{"dataSecretName": "data-" + name}, "infrastructureRef": infrastructure("TestMachine", name),
	}, fields{"phase": "Running"})
	if err != nil {
		return err
	}
	if _, err = h.object(ctx, providerPrefix+standardGroup, "testmachines", "TestMachine", name, m, fields{"providerID": "test:///" + name}, fields{"ready": true}); err != nil {
		return err
	}
	secret := made("v1", "Secret", "data-"+name, h.namespace(), "stringData", fields{"value": name})
	secret["metadata"].(fields)["ownerReferences"] = []any{m}
	return h.as.create(ctx, "/api/v1/namespaces/"+h.namespace()+"/secrets", secret)
}

// component is a Deployment that kwok lets run, and an account that may do what Cluster API's do.
func (h hosted) component(ctx context.Context, name string) error {
	labels := map[string]string{"app": name}
	about := metav1.ObjectMeta{Namespace: h.namespace(), Name: name}
	for _, o := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: about},
		&rbacv1.Role{ObjectMeta: about, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{standardGroup, privateGroup, providerPrefix + standardGroup, providerPrefix + privateGroup}, Resources: []string{"*"}, Verbs: []string{"*"},
		}}},
		&rbacv1.RoleBinding{
			ObjectMeta: about, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: h.namespace(), Name: name}},
		},
		&appsv1.Deployment{ObjectMeta: about, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{ServiceAccountName: name, Containers: []corev1.Container{{Name: "manager", Image: "registry.example.com/" + name}}},
			},
		}},
	} {
		if err := h.Client.Create(ctx, o); err != nil {
			return err
		}
	}
	return nil
}
