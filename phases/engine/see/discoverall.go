package see

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/wire"
)

var (
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	apiServices = schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
)

// DiscoverAll is Discover for whoever concludes something from what is not announced: that a kind is not served, or that
// a namespace has no objects of any. An API server that is starting announces less than it serves, and says nothing of it.
// So it has to be ready, and every APIService and every CRD that is established has to be in its answer.
func (r *Reader) DiscoverAll(ctx context.Context) (Discovered, error) {
	if err := r.Objects.Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return Discovered{}, fmt.Errorf("asking the API server whether it is ready: %w", err)
	}
	said, err := r.Discover(ctx)
	if err != nil {
		return Discovered{}, err
	}
	if err := r.checkAPIServices(ctx, said); err != nil {
		return Discovered{}, err
	}
	return said, r.checkCRDs(ctx, said)
}

// IsUnserved says that a 404 is not about the object: no API server has answered for its kind. One that is starting answers so
// of what it serves a moment later.
func IsUnserved(notFound error) bool {
	return apierrors.HasStatusCause(notFound, metav1.CauseTypeUnexpectedServerResponse)
}

// Served is how a kind is served, and whether it is. Of a group that does not answer nobody can tell.
func (a Discovered) Served(gvk schema.GroupVersionKind) (Resource, bool, error) {
	found, served := a.Of(gvk)
	if !served && a.Unavailable[gvk.Group] {
		return Resource{}, false, fmt.Errorf("finding out whether %s is served: API group %s does not answer; repair the APIService of that group", gvk.Kind, gvk.Group)
	}
	return found, served, nil
}

// CheckUnserved is an error if the API server announces a kind for which nobody has answered, or may not know all that there is.
func (a Discovered) CheckUnserved(gvk schema.GroupVersionKind) error {
	_, served, err := a.Served(gvk)
	if err == nil && served {
		err = fmt.Errorf("the API server announces %s in API group %s and does not serve it; tried again by itself; if it lasts, look at kube-apiserver", gvk.Kind, gvk.Group)
	}
	return err
}

// apiService is what matters of one. One without a service is the API server's own.
type apiService struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Group   string    `json:"group"`
		Version string    `json:"version"`
		Service *struct{} `json:"service"`
	} `json:"spec"`
}

// automanaged is on the APIServices that kube-apiserver makes itself, with this value for those of its own kinds. It makes
// one for every CRD too, also for one that is never established.
const automanaged, ofOwnKinds = "kube-aggregator.kubernetes.io/automanaged", "onstart"

// checkAPIServices notes which versions are of other servers and which kube-apiserver's own, and that groups of other
// servers which were not announced do not answer.
func (r *Reader) checkAPIServices(ctx context.Context, said Discovered) error {
	text, err := r.Objects.Get().AbsPath(wire.Path(apiServices, "")...).Do(ctx).Raw()
	if err != nil {
		return fmt.Errorf("listing apiservices: %w", err)
	}
	var list struct {
		Items []apiService `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("listing apiservices: %w", err)
	}
	for i := range list.Items {
		s := &list.Items[i]
		gv := schema.GroupVersion{Group: s.Spec.Group, Version: s.Spec.Version}
		announced, own := said.versions[gv], s.Spec.Service == nil && s.Metadata.Labels[automanaged] == ofOwnKinds
		said.Own[gv] = own
		switch {
		case s.Spec.Service != nil:
			said.Aggregated[gv] = true
			if !announced {
				said.Unavailable[s.Spec.Group] = true
			}
		case !announced && !said.Unavailable[s.Spec.Group] && own:
			return notAnnounced("APIService " + s.Metadata.Name)
		}
	}
	return nil
}

// checkCRDs reads those that were not announced: they may not be established.
func (r *Reader) checkCRDs(ctx context.Context, said Discovered) error {
	announced := map[string]bool{}
	for _, served := range said.Kinds {
		announced[served.GVR.GroupResource().String()] = true
	}
	elsewhere := map[string]bool{} // groups that another server has versions of, which may hide a CRD
	for gv := range said.Aggregated {
		elsewhere[gv.Group] = true
	}
	var silent []string
	err := r.ListAll(ctx, crds, "", "", func(crd *metav1.PartialObjectMetadata) {
		_, group, _ := strings.Cut(crd.Name, ".")
		if !announced[crd.Name] && !elsewhere[group] && !said.Unavailable[group] && crd.DeletionTimestamp == nil {
			silent = append(silent, crd.Name)
		}
	})
	if err != nil {
		return err
	}
	for _, name := range silent {
		o, err := r.Read(ctx, Resource{GVR: crds}, decide.Key{Name: name})
		if err != nil {
			return fmt.Errorf("reading CRD %s: %w", name, err)
		}
		crd := o.Tree(CRDKind)
		if crd != nil && decide.Condition(crd, "Established").Answer == decide.AnswerTrue && len(decide.ServedVersions(crd)) > 0 {
			return notAnnounced("CRD " + name)
		}
	}
	return nil
}

func notAnnounced(what string) error {
	return fmt.Errorf("asking the API server for the kinds it serves: it does not announce those of %s yet; tried again by itself; if it lasts, look at kube-apiserver", what)
}
