package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	configv1 "github.com/openshift/api/config/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
)

// again is after how long a pass looks anew that nobody has called for.
const again = 6 * installing

// ProbeAPI stores the kubeconfig. The probe itself is made beside the passes: by a kubeconfig that was just stored it is made at once.
func (s *Seen) ProbeAPI(ctx context.Context) (machine.Result, error) {
	did, err := s.KeepKubeconfig(ctx)
	return machine.Result{Did: did, LookAgain: again}, err
}

// WatchBootstrap keeps the kubeconfig by which the guest is asked, beside the passes, how far its bootstrap is.
func (s *Seen) WatchBootstrap(ctx context.Context) (machine.Result, error) {
	did, err := s.KeepKubeconfig(ctx)
	return machine.Result{Did: did, LookAgain: again}, err
}

// AskUpgrade asks the guest for the release that the spec asks for, unless that was done, or takes off what it was asked for by us and is not
// wanted any more, and keeps the kubeconfig.
func (s *Seen) AskUpgrade(ctx context.Context) (machine.Result, error) {
	did, err := s.KeepKubeconfig(ctx)
	if err != nil {
		return machine.Result{Did: did}, err
	}
	result := machine.Result{Did: did, LookAgain: again}
	if s.takes {
		return s.takeOff(ctx, result)
	}
	if s.asked.Version == "" || s.facts.Upgrade.Refused != "" || s.sight.version.wanted.is(s.asked) {
		return result, nil
	}
	wish := map[string]any{"image": string(s.asked.Image), "version": s.asked.Version, "architecture": nil, "force": nil}
	sent, err := s.sendUpgrade(ctx, func(now *configv1.ClusterVersion) map[string]any {
		if versionOf(now).may(s.asked) != nil {
			return nil
		}
		return desire(wish, s.look.Plane.Spec.ReleaseImage+" "+string(s.asked.Image), "")
	})
	if err != nil {
		return result, fmt.Errorf("asking the guest for release %s: %w", s.asked.Version, err)
	}
	s.guest.ask()
	if sent {
		result.Did = "asked the guest for release " + s.asked.Version
	}
	return result, nil
}

// desire is a patch of the ClusterVersion by which the guest is asked for a release, or for none, and that notes that it was by us. With a
// resourceVersion it is refused if somebody has written since.
func desire(update, noted any, resourceVersion string) map[string]any {
	metadata := map[string]any{"annotations": map[string]any{askedAnnotation: noted}}
	if resourceVersion != "" {
		metadata["resourceVersion"] = resourceVersion
	}
	return map[string]any{"metadata": metadata, "spec": map[string]any{"desiredUpdate": update}}
}

// takeOff takes our wish off the guest, unless it is under way by now or another one's. None is taken off that was written meanwhile.
func (s *Seen) takeOff(ctx context.Context, result machine.Result) (machine.Result, error) {
	was := digestOf(s.sight.version.wanted.image)
	sent, err := s.sendUpgrade(ctx, func(now *configv1.ClusterVersion) map[string]any {
		if v := versionOf(now); digestOf(v.wanted.image) != was || !v.isLeftover("") {
			return nil
		}
		return desire(nil, nil, now.ResourceVersion)
	})
	if err != nil {
		return result, fmt.Errorf("taking a release off the guest that is no more asked for: %w", err)
	}
	s.guest.ask()
	if sent {
		result.Did = "asked the guest no more for the release that it was asked for before"
	}
	return result, nil
}

// sendUpgrade sends the patch that is made of the ClusterVersion as it is by now, nil for none: what was seen of a guest at rest may be old.
func (s *Seen) sendUpgrade(ctx context.Context, patch func(now *configv1.ClusterVersion) map[string]any) (sent bool, err error) {
	inTime, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l, by, err := s.p.lineOf(inTime, s.guest, client.ObjectKeyFromObject(s.look.Cluster))
	if err != nil {
		return false, err
	}
	now := &configv1.ClusterVersion{}
	if err := l.get(inTime, releasePath, "", now); err != nil {
		return false, err
	}
	content := patch(now)
	if content == nil {
		return false, nil
	}
	text, err := json.Marshal(content)
	if err != nil {
		return false, err
	}
	// The kubeconfig may be another one than the one by which it was seen.
	is := sight{who: guards.Identity{ID: string(now.Spec.ClusterID), Made: s.want.clusterID, Installer: s.want.installer}}
	if err := s.p.vouch(inTime, s.guest, by, s.want, &is); err != nil {
		return false, err
	}
	if ours := is.who.IsOurs(); ours.Truth != machine.Yes {
		return false, errors.New(ours.Reason)
	}
	return true, l.send(inTime, http.MethodPatch, releasePath, "", text, nil)
}
