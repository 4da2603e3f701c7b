package support

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/recorder"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

// The history of revisions, which is kept as it is: it is written by the operator alone.
const (
	historyConfigMap = "capstan-history"
	historyKey       = "history.json"
	maxHistory       = 512 << 10
)

// found is what parts are told of by those before them.
type found struct {
	noClusterAPI error
	annotations  map[string]string
	contested    []guards.Contested
	// definitions are the names of those that revisions list or requirements are about, objects what revisions list.
	definitions []string
	objects     []engine.Key
}

func (f *found) define(name string) {
	if !slices.Contains(f.definitions, name) {
		f.definitions = append(f.definitions, name)
	}
}

// configMap reads one of the operator's; nil if there is none.
func (c *collector) configMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	there := &corev1.ConfigMap{}
	found, err := c.cluster.get(ctx, configMaps, c.OperatorNamespace, name, there)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, &LackError{Why: "ConfigMap " + c.OperatorNamespace + "/" + name + " does not exist"}
	}
	return there, nil
}

func (c *collector) history(ctx context.Context, name string) error {
	stored, err := c.configMap(ctx, historyConfigMap)
	if err != nil {
		return err
	}
	text := []byte(stored.Data[historyKey])
	if len(text) > maxHistory || !json.Valid(text) {
		return &LackError{Why: "what ConfigMap " + historyConfigMap + " holds is no history"}
	}
	return c.add(name, json.RawMessage(text), "")
}

// recorder keeps the entries unpacked, as `capstan replay` reads them.
func (c *collector) recorder(ctx context.Context, name string) error {
	stored, err := c.configMap(ctx, recorder.ConfigMap)
	if err != nil {
		return err
	}
	entries, err := recorder.Of(stored)
	if err != nil {
		return &LackError{Why: "what ConfigMap " + recorder.ConfigMap + " holds is damaged"}
	}
	var lines bytes.Buffer
	for _, e := range entries {
		line, err := jsonOf(e, "")
		if err != nil {
			return err
		}
		lines.Write(line)
	}
	c.addBytes(name, lines.Bytes(), "")
	return nil
}

// heldInventory is what the inventory of a revision lists.
type heldInventory struct {
	ConfigMap string       `json:"configMap"`
	Revision  string       `json:"revision,omitempty"`
	Number    int64        `json:"number,omitempty"`
	ContentID string       `json:"contentID,omitempty"`
	Objects   []heldObject `json:"objects"`
	// Retained are of older revisions, and kept for the data in them.
	Retained []heldObject `json:"retained,omitempty"`
	Problem  string       `json:"problem,omitempty"`
}

type heldObject struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

func (c *collector) inventories(ctx context.Context, name string) error {
	place, kept := phases.Inventories(c.OperatorNamespace), []heldInventory{}
	all, err := c.cluster.list(ctx, configMaps, c.OperatorNamespace, engine.InventoryLabel, func(object *unstructured.Unstructured) error {
		if !strings.HasPrefix(object.GetName(), place.Prefix) {
			return nil
		}
		held := heldInventory{ConfigMap: object.GetName(), Objects: []heldObject{}}
		listed, err := place.ReadListed(object)
		if err != nil {
			held.Problem = "it is damaged, or no inventory of this operator"
		} else {
			held.Revision, held.Number, held.ContentID = listed.Revision, listed.Number, listed.ContentID
			held.Objects, held.Retained = c.hold(listed.Objects), c.hold(listed.Retained)
		}
		kept = append(kept, held)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(kept, func(a, b heldInventory) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), strings.Compare(a.ConfigMap, b.ConfigMap))
	})
	return c.add(name, kept, notAll(all))
}

// hold keeps keys, and remembers those that other parts look at.
func (c *collector) hold(keys []engine.Key) []heldObject {
	held := make([]heldObject, 0, len(keys))
	for _, key := range keys {
		held = append(held, heldObject(key))
		c.found.objects = append(c.found.objects, key)
		if key.Kind == "CustomResourceDefinition" {
			c.found.define(key.Name)
		}
	}
	return held
}
