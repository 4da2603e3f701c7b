package simulated

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/history"
)

// Pin pins the images of a revision from a moment on and for a time; for none it is a rollback, which ends when the list changes.
func (c *Cluster) Pin(number int64, at time.Time, lasts time.Duration) {
	act := acts.Act{Name: acts.Pin, By: "anna", At: at.Truncate(time.Second), Reason: "it does not work", Items: []acts.Said{
		{Key: "revision", Value: fmt.Sprint(number)},
	}}
	if lasts > 0 {
		act.Until = act.At.Add(lasts)
	} else {
		act.Items = append(act.Items, acts.Said{Key: "list", Value: c.ListPrint()})
	}
	text, err := act.Text()
	must(err)
	c.Annotate(acts.PinAct, text)
}

// Unpin takes a pin back.
func (c *Cluster) Unpin() {
	c.change(func(api *operatorv1alpha1.ClusterAPI) { delete(api.Annotations, acts.PinAct) })
}

// AskedPin is the pin that people ask for, as it is written; empty for none.
func (c *Cluster) AskedPin() string {
	if api := c.api(context.Background()); api != nil {
		return api.Annotations[acts.PinAct]
	}
	return ""
}

// LoseHistory deletes the history of revisions.
func (c *Cluster) LoseHistory() {
	must(client.IgnoreNotFound(c.stored.Delete(context.Background(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: history.ConfigMap},
	})))
}

// ListedImages are the images of the list, sorted.
func (c *Cluster) ListedImages() []string { return slices.Sorted(maps.Values(c.list().Data)) }

// NewestImages are the images of the newest revision, sorted.
func (c *Cluster) NewestImages() (all []string) {
	if newest := c.desired(); newest != nil {
		for _, component := range newest.Components {
			all = append(all, string(component.Image.Ref))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ListPrint is the fingerprint of the list of images by which a rollback names it.
func (c *Cluster) ListPrint() string {
	list := c.list()
	text, err := json.Marshal([]any{list.Data, list.Annotations[phases.ReleaseAnnotation]})
	must(err)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

func (c *Cluster) list() *corev1.ConfigMap {
	list := &corev1.ConfigMap{}
	c.find(context.Background(), client.ObjectKey{Namespace: operatorNamespace, Name: phases.ImagesConfigMap}, list)
	return list
}
