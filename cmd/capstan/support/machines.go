package support

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"

	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/status"
)

var (
	clusterAPIs      = operatorv1alpha1.GroupVersion.WithResource("clusterapis")
	clusterOperators = configv1.GroupVersion.WithResource("clusteroperators")
	clusterVersions  = configv1.GroupVersion.WithResource("clusterversions")
	requirementKind  = requirementsv1alpha1.GroupVersion.WithResource("compatibilityrequirements")
)

// metadataOf keeps of an object's metadata what is typed and says nothing of others; of annotations only acts.
func metadataOf(o metav1.ObjectMeta) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Name: o.Name, Namespace: o.Namespace, UID: o.UID, ResourceVersion: o.ResourceVersion, Generation: o.Generation,
		CreationTimestamp: o.CreationTimestamp, DeletionTimestamp: o.DeletionTimestamp, Finalizers: o.Finalizers,
	}
	for _, form := range acts.Forms {
		if text, is := o.Annotations[form.Annotation]; is {
			if kept.Annotations == nil {
				kept.Annotations = map[string]string{}
			}
			kept.Annotations[form.Annotation] = text
		}
	}
	return kept
}

// versions are the first that is asked for: without an answer there is no archive.
func (c *collector) versions(ctx context.Context) error {
	said, err := c.cluster.core.RESTClient().Get().AbsPath("/version").DoRaw(ctx)
	if err != nil {
		return err
	}
	kept := struct {
		Capstan    string `json:"capstan"`
		Kubernetes string `json:"kubernetes"`
		Platform   string `json:"platform"`
	}{Capstan: c.Capstan}
	var server version.Info
	if json.Unmarshal(said, &server) == nil {
		kept.Kubernetes, kept.Platform = server.GitVersion, server.Platform
	}
	return c.add(versionsPart, kept, "")
}

func (c *collector) clusterVersion(ctx context.Context, name string) error {
	there := &configv1.ClusterVersion{}
	found, err := c.cluster.get(ctx, clusterVersions, "", "version", there)
	if err != nil {
		return err
	}
	kept := &configv1.ClusterVersion{
		ObjectMeta: metadataOf(there.ObjectMeta),
		Status:     configv1.ClusterVersionStatus{Desired: configv1.Release{Version: there.Status.Desired.Version, Image: there.Status.Desired.Image}},
	}
	for _, h := range there.Status.History {
		kept.Status.History = append(kept.Status.History, configv1.UpdateHistory{
			State: h.State, StartedTime: h.StartedTime, CompletionTime: h.CompletionTime, Version: h.Version, Image: h.Image, Verified: h.Verified,
		})
	}
	for _, condition := range there.Status.Conditions {
		condition.Message = "" // of the whole cluster
		kept.Status.Conditions = append(kept.Status.Conditions, condition)
	}
	return addOne(c, name, found, kept)
}

func (c *collector) clusterAPI(ctx context.Context, name string) error {
	there := &operatorv1alpha1.ClusterAPI{}
	found, err := c.cluster.get(ctx, clusterAPIs, "", phases.Singleton, there)
	if err != nil {
		c.found.noClusterAPI = err
		return err
	}
	c.found.annotations = there.Annotations
	kept := &operatorv1alpha1.ClusterAPI{ObjectMeta: metadataOf(there.ObjectMeta), Spec: there.Spec, Status: there.Status}
	return addOne(c, name, found, kept)
}

// heldAct is an act as it was read.
type heldAct struct {
	Name   string      `json:"name"`
	By     string      `json:"by,omitempty"`
	At     time.Time   `json:"at,omitzero"`
	Until  time.Time   `json:"until,omitzero"`
	Reason string      `json:"reason,omitempty"`
	Items  []acts.Said `json:"items,omitempty"`
	// Malformed says what is wrong with its form. Whether it counts the operator alone can tell, and does in its report.
	Malformed string `json:"malformed,omitempty"`
}

func (c *collector) acts(_ context.Context, name string) error {
	if c.found.noClusterAPI != nil {
		return c.found.noClusterAPI
	}
	held := []heldAct{}
	for _, form := range acts.Forms {
		text, is := c.found.annotations[form.Annotation]
		if !is {
			continue
		}
		act, err := acts.Read(form.Name, text)
		if err != nil {
			held = append(held, heldAct{Name: form.Name, Malformed: err.Error()})
			continue
		}
		held = append(held, heldAct{Name: act.Name, By: act.By, At: act.At, Until: act.Until, Reason: act.Reason, Items: act.Items})
	}
	return c.add(name, held, "")
}

func (c *collector) clusterOperator(ctx context.Context, name string) error {
	there := &configv1.ClusterOperator{}
	found, err := c.cluster.get(ctx, clusterOperators, "", phases.ClusterOperatorName, there)
	if err != nil {
		return err
	}
	kept := &configv1.ClusterOperator{ObjectMeta: metadataOf(there.ObjectMeta), Status: configv1.ClusterOperatorStatus{
		Conditions: there.Status.Conditions, Versions: there.Status.Versions, RelatedObjects: there.Status.RelatedObjects,
	}}
	var all map[string]json.RawMessage
	if json.Unmarshal(there.Status.Extension.Raw, &all) == nil {
		ours := map[string]json.RawMessage{}
		for _, machine := range c.Machines {
			for _, key := range []string{status.RecordKey(machine), status.DetailKey(machine)} {
				if len(all[key]) > 0 {
					ours[key] = all[key]
				}
			}
		}
		raw, err := json.Marshal(ours)
		if err != nil {
			return err
		}
		kept.Status.Extension = runtime.RawExtension{Raw: raw}
		var detail phases.Detail
		if json.Unmarshal(all[status.DetailKey(c.Machines[0])], &detail) == nil {
			c.found.contested = detail.Contested
		}
	}
	return addOne(c, name, found, kept)
}

// requirements leaves out the definitions that requirements carry.
func (c *collector) requirements(ctx context.Context, name string) error {
	kept := []requirementsv1alpha1.CompatibilityRequirement{}
	all, err := c.cluster.list(ctx, requirementKind, "", "", func(object *unstructured.Unstructured) error {
		r, err := typed[requirementsv1alpha1.CompatibilityRequirement](object)
		if err != nil {
			return err
		}
		r.Spec.CompatibilitySchema.CustomResourceDefinition.Data = ""
		kept = append(kept, requirementsv1alpha1.CompatibilityRequirement{ObjectMeta: metadataOf(r.ObjectMeta), Spec: r.Spec, Status: r.Status})
		if r.Status.CRDName != "" {
			c.found.define(r.Status.CRDName)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(kept, func(a, b requirementsv1alpha1.CompatibilityRequirement) int { return strings.Compare(a.Name, b.Name) })
	return c.add(name, kept, notAll(all))
}
