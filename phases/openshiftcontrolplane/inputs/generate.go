package inputs

import (
	"context"
	"fmt"
	"time"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	guards "github.com/capstan-capi/capstan/guards/openshiftcontrolplane"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/payload"
	"github.com/capstan-capi/capstan/phases/payload/builtin"
	"github.com/capstan-capi/capstan/phases/payload/keys"
)

// GenerateIgnition stores keys first, and then the configs of the three roles; what of it stands is left as it is. One that would
// end too soon is made anew if no Machine is made with it, which is asked of the marks as the API server has them.
func (s *Seen) GenerateIgnition(ctx context.Context) (machine.Result, error) {
	if s.unread != nil {
		return machine.Result{}, s.unread
	}
	if guards.PayloadStands.Answer(*s.facts).Truth == machine.Yes {
		return machine.Result{}, nil
	}
	in, err := s.frozenInputs(ctx)
	if err != nil {
		return machine.Result{}, err
	}
	if err := s.ownTemplates(ctx); err != nil {
		return machine.Result{}, err
	}
	remake, err := s.mayRemake(ctx)
	if err != nil {
		return machine.Result{}, err
	}
	if s.engine() == v1alpha1.InstallerJob {
		return s.byInstaller(ctx, in, remake)
	}
	return s.inProcess(ctx, in, remake)
}

// frozenInputs are the inputs if they are still what was frozen. A payload of other ones would not be what was decided.
func (s *Seen) frozenInputs(ctx context.Context) (*payload.Inputs, error) {
	in, problems, err := s.documents(ctx)
	if err != nil {
		return nil, err
	}
	var digest string
	if in != nil {
		if digest, err = in.Digest(); err != nil {
			return nil, err
		}
	}
	if len(problems) > 0 || digest != s.frozen() {
		return nil, fmt.Errorf("making the payload: the inputs were edited after they were frozen and before it was made; put them back, or set "+
			"annotation %s to a new value that begins with %s", v1alpha1.RetryAnnotation, v1alpha1.FromScratch)
	}
	return in, nil
}

// mayRemake says that a payload would end too soon, and that no Machine was made with it.
func (s *Seen) mayRemake(ctx context.Context) (bool, error) {
	if !s.facts.Payload.Ending {
		return false, nil
	}
	marks, _, err := s.marking().Read(ctx)
	if err != nil {
		return false, err
	}
	return marks.Bootstrap == "" && !marks.Initialized && !marks.Finished && s.facts.Bootstrap.Known && s.facts.Bootstrap.UID == "", nil
}

// inProcess is the engine Builtin.
func (s *Seen) inProcess(ctx context.Context, in *payload.Inputs, remake bool) (machine.Result, error) {
	of, err := s.release(ctx, in)
	if err != nil {
		return machine.Result{}, fmt.Errorf("making the payload: %w", err)
	}
	cluster := s.cluster(of)
	material, ends, err := s.material(ctx, builtin.Names(in, cluster), remake)
	if err != nil {
		return machine.Result{}, err
	}
	made, err := builtin.Compose(in, cluster, material)
	if err != nil {
		return machine.Result{}, fmt.Errorf("making the payload: %w", err)
	}
	return s.store(ctx, made, ends)
}

// store stores the configs of the roles.
func (s *Seen) store(ctx context.Context, made payload.Payload, ends time.Time) (machine.Result, error) {
	for _, role := range payload.Roles {
		config := made.Of(role)
		data, err := s.delivered(config)
		if err != nil {
			return machine.Result{}, fmt.Errorf("storing the Ignition config of role %s: %w", role, err)
		}
		if err := s.keep(ctx, payload.SecretName(s.look.Plane.Name, role), data, map[string]string{
			v1alpha1.PayloadInputsAnnotation:   s.frozen(),
			v1alpha1.PayloadNotAfterAnnotation: ends.UTC().Format(time.RFC3339),
			v1alpha1.PayloadSumAnnotation:      sumOf(config),
		}); err != nil {
			return machine.Result{}, err
		}
	}
	return machine.Result{Did: "made the payload of inputs " + short(s.frozen()), LookAgain: soon}, nil
}

// material is what a payload is sealed with, and until when. It is stored before it is returned.
func (s *Seen) material(ctx context.Context, names keys.Names, remake bool) (keys.Material, time.Time, error) {
	authorities := keys.Authorities()
	if err := authorities.LookupOrGenerate(ctx, s.r.through(), s.clusterKey(), s.owner()); err != nil {
		return keys.Material{}, time.Time{}, fmt.Errorf("making the authorities of Cluster %s: %w", s.look.Cluster.Name, err)
	}
	stored, ends, err := s.storedKeys(ctx, remake)
	if err != nil {
		return keys.Material{}, ends, err
	}
	all, err := keys.Complete(stored, authorities, names)
	if err != nil {
		return keys.Material{}, ends, err
	}
	if ends.IsZero() {
		ends = s.r.now().Add(payload.Lifetime).Truncate(time.Second)
	}
	if err := s.keep(ctx, payload.KeysName(s.look.Plane.Name), all, map[string]string{
		v1alpha1.PayloadInputsAnnotation:   s.frozen(),
		v1alpha1.PayloadNotAfterAnnotation: ends.UTC().Format(time.RFC3339),
	}); err != nil {
		return keys.Material{}, ends, err
	}
	material, err := keys.Read(all, authorities, names)
	return material, ends, err
}
