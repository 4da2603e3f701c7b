package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/see"
)

// namespaceLook is what one look at all kinds finds out about the objects in a namespace.
type namespaceLook struct {
	e         *Engine
	announced see.Discovered
	census    *decide.Census
	open      []string // why there may be objects that nobody can count
	forbidden []string // kinds that may not be listed
	without   []string // kinds that have no list
}

// namespaceContents counts the objects in a namespace that would be somebody's loss, each once, however many kinds it is
// served as. Kinds that may have any, and do not say so, are named: those of an API group that does not answer, and those
// that may not be read, or not as a list.
func (e *Engine) namespaceContents(ctx context.Context, namespace string, going map[decide.Key]bool) (decide.Contents, error) {
	announced, err := e.cluster.Reader.DiscoverAll(ctx)
	if err != nil {
		return decide.Contents{}, err
	}
	look := &namespaceLook{e: e, announced: announced, census: decide.NewCensus(func(gvk schema.GroupVersionKind) bool {
		served, found := announced.Of(gvk)
		return found && served.Namespaced
	})}
	if silence := announced.UnavailableGroups(); silence != "" {
		look.open = []string{"API groups do not answer: " + silence + "; repair or remove their APIServices"}
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
		answers, err = look.unread(ctx, gvk, served, e.cluster.Reader.ListAll(within, served.GVR, namespace, "", func(obj *metav1.PartialObjectMetadata) {
			if !going[decide.Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: obj.Namespace, Name: obj.Name}] {
				look.census.Add(gvk.GroupKind(), obj, !announced.Aggregated[gvk.GroupVersion()])
			}
		}))
		return answers
	})
	if err != nil {
		return decide.Contents{}, err
	}
	count := look.census.Count()
	if len(look.forbidden) > 0 {
		look.open = append(look.open, e.mayNotList(look.forbidden, namespace))
	}
	if count == 0 && len(look.open) > 0 {
		return decide.Contents{What: "what nobody can tell, because " + strings.Join(look.open, ", and ")}, nil
	}
	if count == 0 && len(look.without) > 0 {
		e.cfg.Log.Info("A namespace counts as empty, and kinds that cannot be listed do not count", "namespace", namespace, "kinds", look.without)
	}
	contents := counted(count, "objects")
	contents.Holding = look.census.Holding()
	contents.Holding.Open = slices.Concat(contents.Holding.Open, look.open, look.without) // nobody consents to what could not be listed
	return contents, nil
}

// unread says what to make of an error of a list: nothing is concluded from one that kube-apiserver gives for a kind of its
// own, another server may have objects whatever it answers, and of a CRD there are none where nobody knows a list. A server
// that did not answer is not asked for more.
func (look *namespaceLook) unread(ctx context.Context, gvk schema.GroupVersionKind, served see.Resource, err error) (answers bool, failed error) {
	if err == nil {
		return true, nil
	}
	var noList *see.NoListError
	isNoList, another, own := errors.As(err, &noList), look.announced.Aggregated[gvk.GroupVersion()], look.announced.Own[gvk.GroupVersion()]
	silent := look.e.cannotRead(err) || another && look.e.isSilence(ctx, err)
	unlisted := isNoList && (another || !own && !see.HasNoList(err))
	switch {
	case apierrors.IsForbidden(err):
		look.forbidden = append(look.forbidden, resourceOf(served))
		return isNoList, nil
	case silent, unlisted:
		look.leaveOpen(served, err, "repair what serves it")
		return isNoList, nil
	case isNoList && !own:
		look.without = append(look.without, err.Error())
		return true, nil
	}
	return false, err
}

// forbiddenAtMost is how many kinds a message names that may not be listed.
const forbiddenAtMost = 4

// mayNotList says which rights are lacking to know what there is of kinds, in a namespace or everywhere.
func (e *Engine) mayNotList(resources []string, namespace string) string {
	text, where := strings.Join(resources[:min(len(resources), forbiddenAtMost)], ", "), "anywhere"
	if more := len(resources) - forbiddenAtMost; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if namespace != "" {
		where = "in namespace " + namespace
	}
	if e.cfg.ForViewer {
		return fmt.Sprintf("you may not list %s %s: have somebody give you that right (verb list), or look who may", text, where)
	}
	return fmt.Sprintf("the operator may not list %s %s: let it (verb list), or look yourself", text, where)
}

// resourceOf is a resource as a rule of RBAC has it.
func resourceOf(served see.Resource) string {
	if served.GVR.Group == "" {
		return served.GVR.Resource
	}
	return fmt.Sprintf("%s of API group %s", served.GVR.Resource, served.GVR.Group)
}

// leaveOpen notes that there may be objects of a kind, and what has to be done to know.
func (look *namespaceLook) leaveOpen(served see.Resource, err error, next string) {
	look.open = append(look.open, fmt.Sprintf("%s cannot be read: %v; %s", served.GVR.GroupResource(), err, next))
}
