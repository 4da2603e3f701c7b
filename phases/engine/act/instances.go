package act

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/throttle"
)

// instancePage bounds how many custom resources are in memory at a time.
const instancePage = 200

// users are the instances of a CRD that an update would hurt, or that keep it from being deleted. They are counted and not
// named: everybody who is logged in reads the conditions, and the names are their owners'.
type users struct {
	gvr        schema.GroupVersionResource
	inside     bool // a message about fields, which no table of kubectl shows
	inPart     bool // only the count is of all
	count      int
	going      int // that are being deleted, and have finalizers that wait
	namespaces map[string]bool
	fields     map[string]bool // that they use; no more than the schemas have
}

func (u users) String() string {
	text := countOf(u.count, "instance")
	if u.count == 0 {
		return text
	}
	list, least := fmt.Sprintf("kubectl get %s.%s.%s", u.gvr.Resource, u.gvr.Version, u.gvr.Group), ""
	if u.inPart {
		least = "at least "
	}
	if len(u.namespaces) > 0 {
		text += " in " + least + countOf(len(u.namespaces), "namespace")
		list += " -A"
	}
	if u.going > 0 {
		text += fmt.Sprintf(", %s%d of them being deleted", least, u.going)
	}
	if u.inside || u.going > 0 {
		list += " -o yaml"
	}
	return text + " (" + list + ")"
}

func countOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func (u *users) note(obj metav1.Object, lost ...string) {
	u.count++
	if namespace := obj.GetNamespace(); namespace != "" {
		u.namespaces[namespace] = true
	}
	for _, field := range lost {
		u.fields[field] = true
	}
}

// count counts all instances in one version, by their metadata. No answer is an error: whether there is data must be known
// for sure.
func (e *Engine) count(ctx context.Context, crd *unstructured.Unstructured, version string) (users, error) {
	found := users{gvr: decide.InstancesOf(crd, version), namespaces: map[string]bool{}}
	if version == "" {
		return found, nil
	}
	err := e.cluster.Reader.ListAll(ctx, found.gvr, "", "", func(obj *metav1.PartialObjectMetadata) { found.note(obj) })
	if err != nil {
		return found, fmt.Errorf("looking whether instances of %s lose anything: %w", crd.GetName(), err)
	}
	return found, nil
}

// users reads all instances in one version, a page at a time, and notes those of which the update takes fields, and which
// instances it has read. No answer is an error here too.
func (e *Engine) users(ctx context.Context, crd *unstructured.Unstructured, in decide.VersionLoss) (users, *reading, error) {
	found := users{gvr: decide.InstancesOf(crd, in.Version), inside: true, namespaces: map[string]bool{}, fields: map[string]bool{}}
	read := &reading{gvr: found.gvr, at: e.cfg.Clock.Now()}
	seen := newFingerprint()
	client := e.dynamic.Resource(found.gvr)
	for page := ""; ; {
		list, err := client.List(throttle.Apart(ctx), metav1.ListOptions{Limit: instancePage, Continue: page})
		if err != nil {
			return found, nil, fmt.Errorf("looking whether instances of %s lose anything: %w", crd.GetName(), err)
		}
		for i := range list.Items {
			seen.add(&list.Items[i])
			if lost := in.LostFrom(&list.Items[i]); len(lost) > 0 {
				found.note(&list.Items[i], lost...)
			}
		}
		if page = list.GetContinue(); page == "" {
			read.sum = seen.Sum64()
			return found, read, nil
		}
	}
}

// reading says which instances were read as a whole, and when. It is not stored: after a restart they are read again.
type reading struct {
	gvr schema.GroupVersionResource
	at  time.Time
	sum uint64 // of their UIDs and resourceVersions
}

// isAsRead says whether the instances are the ones that were read, by their metadata. The resourceVersion of a list
// would not do: it grows with whatever is written in the cluster.
func (e *Engine) isAsRead(ctx context.Context, before *reading) (bool, error) {
	seen := newFingerprint()
	err := e.cluster.Reader.ListAll(ctx, before.gvr, "", "", func(obj *metav1.PartialObjectMetadata) { seen.add(obj) })
	return err == nil && seen.Sum64() == before.sum, err
}

// fingerprint is a sum over instances in the order in which the API server lists them.
type fingerprint struct{ hash.Hash64 }

func newFingerprint() fingerprint { return fingerprint{fnv.New64a()} }

func (f fingerprint) add(obj metav1.Object) {
	for _, text := range []string{string(obj.GetUID()), obj.GetResourceVersion()} {
		_, _ = f.Write(binary.AppendUvarint(nil, uint64(len(text)))) // never fails
		_, _ = f.Write([]byte(text))
	}
}
