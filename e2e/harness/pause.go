package harness

import (
	"context"
	"fmt"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PauseAnnotation is the act by which people pause the machine clusterapi.
const PauseAnnotation = "capi-operator.openshift.io/pause"

// Pause pauses the machine clusterapi as the client's user, from a moment on and for a time.
func Pause(ctx context.Context, c client.Client, at time.Time, lasts time.Duration) error {
	me := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, me); err != nil {
		return fmt.Errorf("asking who pauses: %w", err)
	}
	at = at.UTC().Truncate(time.Second)
	text := fmt.Sprintf("by: %s\nat: %s\nuntil: %s\nreason: etcd is being moved",
		me.Status.UserInfo.Username, at.Format(time.RFC3339), at.Add(lasts).Format(time.RFC3339))
	return pausing(ctx, c, fmt.Sprintf("%q", text))
}

// Resume takes a pause back.
func Resume(ctx context.Context, c client.Client) error { return pausing(ctx, c, "null") }

// pausing writes what the act says, as JSON.
func pausing(ctx context.Context, c client.Client, text string) error {
	api := &operatorv1alpha1.ClusterAPI{}
	api.Name = Singleton
	return c.Patch(ctx, api, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, PauseAnnotation, text)))
}
