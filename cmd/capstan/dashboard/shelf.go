package dashboard

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

var configMaps = corev1.SchemeGroupVersion.WithResource("configmaps")

const (
	// shelfLasts is how long inventories are believed, as long as the same revisions are listed: they are written before what they list.
	shelfLasts = 15 * time.Second
	// shelfKept is how long inventories are shown while they are read anew, as long as the same revisions are listed.
	shelfKept = 10 * time.Minute
	// inventoriesOf is how many are listed at a time, and maxInventories how many are read.
	inventoriesOf  = 10
	maxInventories = 64
	// maxObjects is how many objects are kept in memory.
	maxObjects = 100_000
)

// shelf is what the inventories of revisions list, which is read when somebody asks: with one list for all objects.
type shelf struct {
	mu sync.Mutex
	// at is when they were read, and of which revisions.
	at      time.Time
	of      string
	objects []listedObject
	problem string
}

// listedObject is one with what a search looks in.
type listedObject struct {
	Object

	text string
}

// read reads all inventories, unless they were just now. As long as the same revisions are listed nobody waits for that.
func (s *shelf) read(ctx context.Context, c *cluster) error {
	listed := c.revisions()
	s.mu.Lock()
	age, same := time.Since(s.at), s.of == listed
	s.mu.Unlock()
	switch {
	case same && age < shelfLasts:
		return nil
	case same && age < shelfKept:
		if c.reads.take() {
			go func() {
				ctx, cancel := context.WithTimeout(c.base, c.times.request)
				defer cancel()
				_ = s.refresh(ctx, c, listed) // what was read stays; the next one meets the error, too
			}()
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.times.request)
	defer cancel()
	select {
	case c.reads <- struct{}{}:
		return s.refresh(ctx, c, listed)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refresh reads them for who has the lane.
func (s *shelf) refresh(ctx context.Context, c *cluster, listed string) error {
	conn, err := c.connection()
	if err != nil {
		<-c.reads
		return err
	}
	found, err := taken(ctx, c.reads, func(ctx context.Context) (*shelf, error) { return inventories(ctx, conn, c.namespace) })
	if err != nil {
		c.renew(conn)
		return explain(err, conn.config, c.times.request, "list", "ConfigMaps in namespace "+c.namespace)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.of, s.objects, s.problem = time.Now(), listed, found.objects, found.problem
	return nil
}

// inventories reads them from the newest to the oldest, as far as there is room.
func inventories(ctx context.Context, conn *connection, namespace string) (*shelf, error) {
	var stored []*unstructured.Unstructured
	options := metav1.ListOptions{LabelSelector: engine.InventoryLabel, Limit: inventoriesOf}
	place, read := phases.Inventories(namespace), &shelf{}
	for {
		list, err := conn.objects.Resource(configMaps).Namespace(namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].GetName(), place.Prefix) {
				stored = append(stored, &list.Items[i])
			}
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			break
		}
		if len(stored) >= maxInventories {
			read.problem = fmt.Sprintf("there are more than the %d inventories that are read", maxInventories)
			break
		}
	}
	for _, one := range stored {
		inventory, err := place.Read(one)
		if err != nil {
			read.problem = "ConfigMap " + one.GetName() + " is damaged, or no inventory of this operator"
			continue
		}
		for _, e := range inventory.Entries {
			if len(read.objects) == maxObjects {
				read.problem = fmt.Sprintf("there are more than the %d objects that are listed", maxObjects)
				break
			}
			o := Object{Object: e.Key().String(), Group: e.Group, Component: e.Component, Revision: inventory.Number, Wave: e.Wave, Retained: e.Retained}
			read.objects = append(read.objects, listedObject{Object: o, text: strings.ToLower(o.Object + "\n" + o.Group + "\n" + o.Component)})
		}
	}
	slices.SortStableFunc(read.objects, func(a, b listedObject) int {
		return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.Wave, b.Wave), strings.Compare(a.Object.Object, b.Object.Object))
	})
	return read, nil
}

// find are the objects that are asked for, of a revision and a wave unless these are zero.
func (s *shelf) find(revision int64, wave int, want wanted) Objects {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := Objects{Total: len(s.objects), Offset: want.offset, Items: []Object{}, Problem: s.problem}
	for i := range s.objects {
		o := &s.objects[i]
		if revision != 0 && o.Revision != revision || wave != 0 && o.Wave != wave || want.search != "" && !strings.Contains(o.text, want.search) {
			continue
		}
		if want.takes(found.Matching) {
			found.Items = append(found.Items, o.Object)
		}
		found.Matching++
	}
	return found
}
