package act

import (
	"context"
	"errors"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// inside is what is found out about the objects in a namespace.
type inside struct {
	e         *Engine
	announced see.Discovered
	census    *decide.Census
	closed    []string // why there may be objects that nobody can count
	without   []string // kinds that have no list
}

// namespaceContents counts the objects in a namespace that would be somebody's loss, each once, however many kinds it is
// served as. Kinds that may have any, and do not say so, are named: those of an API group that does not answer, and those
// that may not be read, or not as a list.
func (e *Engine) namespaceContents(ctx context.Context, namespace string) (decide.Contents, error) {
	announced, err := e.cluster.Reader.DiscoverAll(ctx)
	if err != nil {
		return decide.Contents{}, err
	}
	in := &inside{e: e, announced: announced, census: decide.NewCensus(func(gvk schema.GroupVersionKind) bool {
		served, found := announced.Of(gvk)
		return found && served.Namespaced
	})}
	if silence := announced.UnavailableGroups(); silence != "" {
		in.closed = []string{"API groups do not answer: " + silence + "; repair or remove their APIServices"}
	}
	kinds := announced.Preferred()
	maps.DeleteFunc(kinds, func(gvk schema.GroupVersionKind, served see.Resource) bool {
		return !served.Namespaced || decide.IsTransient(gvk.GroupKind())
	})
	eachKind(ctx, 1, announced, kinds, func(within context.Context, gvk schema.GroupVersionKind, served see.Resource) bool {
		if err != nil {
			return false
		}
		var answers bool
		answers, err = in.unread(ctx, gvk, served, e.cluster.Reader.ListAll(within, served.GVR, namespace, func(obj *metav1.PartialObjectMetadata) {
			in.census.Add(gvk.GroupKind(), obj, !announced.Aggregated[gvk.GroupVersion()])
		}))
		return answers
	})
	if err != nil {
		return decide.Contents{}, err
	}
	count := in.census.Count()
	if count == 0 && len(in.closed) > 0 {
		return decide.Contents{What: "what nobody can tell, because " + strings.Join(in.closed, ", and ")}, nil
	}
	if count == 0 && len(in.without) > 0 {
		e.cfg.Log.Info("A namespace counts as empty, and kinds that cannot be listed do not count", "namespace", namespace, "kinds", in.without)
	}
	return counted(count, "objects"), nil
}

// unread says what to make of an error of a list: nothing is concluded from one that kube-apiserver gives for a kind of its
// own, another server may have objects whatever it answers, and of a CRD there are none where nobody knows a list. A server
// that did not answer is not asked for more.
func (in *inside) unread(ctx context.Context, gvk schema.GroupVersionKind, served see.Resource, err error) (answers bool, failed error) {
	var noList *see.NoListError
	isNoList, another := errors.As(err, &noList), in.announced.Aggregated[gvk.GroupVersion()]
	switch {
	case err == nil:
		return true, nil
	case apierrors.IsForbidden(err), in.e.cannotRead(err), another && (isNoList || in.e.isSilence(ctx, err)), isNoList && !in.announced.Own[gvk.GroupVersion()] && !see.HasNoList(err):
		in.closed = append(in.closed, served.GVR.GroupResource().String()+" cannot be read: "+err.Error())
		return isNoList, nil
	case isNoList && !in.announced.Own[gvk.GroupVersion()]:
		in.without = append(in.without, err.Error())
		return true, nil
	}
	return false, err
}
