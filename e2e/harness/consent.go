package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ConsentAnnotation is the act by which people consent to lose objects with all that they hold.
const ConsentAnnotation = "capi-operator.openshift.io/consent-to-delete"

// Consent consents as the client's user to lose, for a revision, an object with all that it holds, by the act in the ClusterAPI.
func Consent(ctx context.Context, c client.Client, revision int64, holder client.Object, held ...client.Object) error {
	for _, o := range append([]client.Object{holder}, held...) {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return fmt.Errorf("reading what is to be lost: %w", err)
		}
	}
	me := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, me); err != nil {
		return fmt.Errorf("asking who consents: %w", err)
	}
	api := &operatorv1alpha1.ClusterAPI{}
	api.Name = Singleton
	merge := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, ConsentAnnotation, ConsentTo(me.Status.UserInfo.Username, revision, holder, held...))
	return c.Patch(ctx, api, client.RawPatch(types.MergePatchType, merge))
}

// ConsentTo is the text of an act by which a user consents to lose, for a revision, an object with all that it holds, as both
// were read. It is written here once more, so that the operator's own code is no witness of itself.
func ConsentTo(user string, revision int64, holder client.Object, held ...client.Object) string {
	var uids []string
	for _, o := range held {
		uids = append(uids, string(o.GetUID())+"\n")
	}
	slices.Sort(uids)
	digest := sha256.Sum256([]byte(strings.Join(uids, "")))
	kind, name := holder.GetObjectKind().GroupVersionKind(), holder.GetName()
	if holder.GetNamespace() != "" {
		name = holder.GetNamespace() + "/" + name
	}
	return fmt.Sprintf("by: %s\nat: %s\nreason: nobody needs it\nrevision: %d\nobject: %s %s %s %d %s",
		user, time.Now().UTC().Format(time.RFC3339), revision, strings.TrimSuffix(kind.Kind+"."+kind.Group, "."), name, holder.GetUID(), len(held), hex.EncodeToString(digest[:]))
}
