package private_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// Groups of Cluster API as a server stores them: everybody's, and the private ones.
const (
	standardGroup = "cluster.x-k8s.io"
	privateGroup  = "cluster.hypershift.openshift.io"
)

// within says whether a group is the core group or that of a provider.
func within(group, core string) bool { return group == core || strings.HasSuffix(group, "."+core) }

// is says whether the user is an identity of the world.
func (w *world) is(user string) bool {
	return strings.HasPrefix(user, "system:serviceaccount:"+w.name+"-system:")
}

// refused are the requests of the world's identities that they had no right to.
func (w *world) refused(requests cluster.RequestList) cluster.RequestList {
	return requests.Where(func(r cluster.Request) bool {
		return w.is(r.User) && (r.Unauthorized || r.Code == http.StatusForbidden || r.Code == http.StatusUnauthorized)
	})
}

// strayed are the requests of the world's identities for objects of the other world's groups.
func (w *world) strayed(requests cluster.RequestList) cluster.RequestList {
	return requests.Where(func(r cluster.Request) bool {
		ofCAPI := within(r.APIGroup, standardGroup) || within(r.APIGroup, privateGroup)
		return w.is(r.User) && ofCAPI && !within(r.APIGroup, w.group)
	})
}

// keepers are the identities of the control plane that may write everywhere, and the suite itself.
var keepers = []string{
	"capstan-admin",
	"system:serviceaccount:kube-system:generic-garbage-collector",
	"system:serviceaccount:kube-system:namespace-controller",
}

// intruded are writes in the world's groups by who is not of the world.
func (w *world) intruded(requests cluster.RequestList) cluster.RequestList {
	return requests.Writes().Where(func(r cluster.Request) bool {
		return within(r.APIGroup, w.group) && !w.is(r.User) && !slices.Contains(keepers, r.User)
	})
}

// worked is an error unless each identity of the world has written objects of its groups: a witness who saw nothing proves nothing.
func (w *world) worked(requests cluster.RequestList) error {
	for _, m := range w.managers {
		written := requests.Writes().Where(func(r cluster.Request) bool {
			return r.User == m.user() && within(r.APIGroup, w.group) && r.Code < http.StatusMultipleChoices
		})
		if len(written) == 0 {
			return fmt.Errorf("%s has written nothing in %s", m.user(), w.group)
		}
	}
	return nil
}
