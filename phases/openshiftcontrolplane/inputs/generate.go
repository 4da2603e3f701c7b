package inputs

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api/util/secret"

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
	if runs, err := s.stillRuns(ctx); err != nil || runs {
		return machine.Result{LookAgain: whileRunning}, err
	}
	in, err := s.frozenInputs(ctx)
	if err != nil {
		return machine.Result{}, err
	}
	if err := s.ownTemplates(ctx); err != nil {
		return machine.Result{}, err
	}
	// What is written is bound to these versions, which were there before it was asked whether anything may be made: another process
	// may have gone on meanwhile.
	was, err := s.held(ctx, s.keptNames()...)
	if err != nil {
		return machine.Result{}, err
	}
	mayMake, err := s.mayMake(ctx)
	if err != nil {
		return machine.Result{}, err
	}
	var result machine.Result
	if s.engine() == v1alpha1.InstallerJob {
		result, err = s.byInstaller(ctx, in, was, mayMake)
	} else {
		result, err = s.inProcess(ctx, in, was, mayMake)
	}
	if isRaced(err) {
		return machine.Result{LookAgain: soon}, nil
	}
	return result, err
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

// mayMake says that no Machine was made with a payload yet, so that it does not have to be the same as before: by the marks as the
// API server has them, and as the status has kept them.
func (s *Seen) mayMake(ctx context.Context) (bool, error) {
	look := func(ctx context.Context) (guards.Marks, error) {
		marks, _, err := s.marking().Read(ctx)
		return marks, err
	}
	if s.facts.Payload.Ending { // one that is intended was not made in time
		look = s.marking().Unintend
	}
	marks, err := look(ctx)
	if err != nil {
		return false, err
	}
	marks = marks.Advance(s.facts.Noted)
	return !marks.Clears() && marks.Bootstrap == "" && !marks.Initialized && !marks.Finished && s.facts.Bootstrap.UID == "", nil
}

// mayRemake says that a payload would end too soon, and is to be made anew. ends is when the one ends that is there now: one that was made
// since the look is not made anew.
func (s *Seen) mayRemake(mayMake bool, ends time.Time) bool {
	return mayMake && s.facts.Payload.Ending && s.facts.Bootstrap.Known && !ends.After(s.facts.Payload.NotAfter)
}

// inProcess is the engine Builtin. What the payload is sealed with is stored first, with the sum of what is made with it, so that nothing
// else is ever made with it.
func (s *Seen) inProcess(ctx context.Context, in *payload.Inputs, was held, mayMake bool) (machine.Result, error) {
	of, err := s.release(ctx, in)
	if err != nil {
		return machine.Result{}, fmt.Errorf("making the payload: %w", err)
	}
	cluster := s.cluster(of)
	sealed, err := s.seals(ctx, builtin.Names(in, cluster), was, mayMake)
	if err != nil {
		return machine.Result{}, err
	}
	made, err := builtin.Compose(in, cluster, sealed.material)
	if err != nil {
		return machine.Result{}, fmt.Errorf("making the payload: %w", err)
	}
	sum, name := wholeSum(made), payload.KeysName(s.look.Plane.Name)
	same := payload.Roles
	if !mayMake {
		if same, err = s.same(was, made); err != nil {
			return machine.Result{}, err
		}
		if len(same) < len(payload.Roles) { // of what else it was made only its own sum tells
			sum = was.annotation(name, v1alpha1.PayloadSumAnnotation)
		}
	}
	if err := s.keep(ctx, was, name, sealed.all, map[string]string{
		v1alpha1.PayloadInputsAnnotation:   s.frozen(),
		v1alpha1.PayloadNotAfterAnnotation: sealed.ends.UTC().Format(time.RFC3339),
		v1alpha1.PayloadSumAnnotation:      sum,
	}); err != nil {
		return machine.Result{}, err
	}
	return s.store(ctx, was, batch{Payload: made, roles: same, ends: sealed.ends, platform: in.Config.PlatformName()})
}

// batch is what is stored of a payload: the configs of some roles, until when machines can be started with them, and the platform of the
// inputs that they are made of.
type batch struct {
	payload.Payload
	roles    []payload.Role
	ends     time.Time
	platform string
}

// store stores the configs of the roles.
func (s *Seen) store(ctx context.Context, was held, made batch) (machine.Result, error) {
	clusterID := payload.ClusterID(made.Bootstrap)
	for _, role := range made.roles {
		config := made.Of(role)
		data, err := s.delivered(config)
		if err != nil {
			return machine.Result{}, fmt.Errorf("storing the Ignition config of role %s: %w", role, err)
		}
		if err := s.keep(ctx, was, payload.SecretName(s.look.Plane.Name, role), data, map[string]string{
			v1alpha1.PayloadInputsAnnotation:    s.frozen(),
			v1alpha1.PayloadNotAfterAnnotation:  made.ends.UTC().Format(time.RFC3339),
			v1alpha1.PayloadSumAnnotation:       payload.Sum(config),
			v1alpha1.PayloadVersionsAnnotation:  s.versionsSum,
			v1alpha1.PayloadPlatformAnnotation:  made.platform,
			v1alpha1.PayloadClusterIDAnnotation: clusterID,
		}); err != nil {
			return machine.Result{}, err
		}
	}
	return machine.Result{Did: "made the payload of inputs " + short(s.frozen()), LookAgain: soon}, nil
}

// wholeSum tells payloads apart.
func wholeSum(made payload.Payload) string {
	return payload.Sum(slices.Concat(made.Bootstrap, made.Master, made.Worker))
}

// same are the roles of a payload that is made anew whose configs are those that machines were made with: all, where the keys' Secret has
// its sum, and otherwise those whose own Secrets have theirs. It fails where one of the others is not right, since it cannot be made again.
func (s *Seen) same(was held, made payload.Payload) ([]payload.Role, error) {
	had := was.annotation(payload.KeysName(s.look.Plane.Name), v1alpha1.PayloadSumAnnotation)
	if had == wholeSum(made) {
		return payload.Roles, nil
	}
	var same, others, lost []payload.Role
	for _, role := range payload.Roles {
		is := was[payload.SecretName(s.look.Plane.Name, role)]
		switch {
		case is == nil:
			lost = append(lost, role)
		case is.Annotations[v1alpha1.PayloadSumAnnotation] == payload.Sum(made.Of(role)):
			same = append(same, role)
		case s.judgement(is).wrong != "":
			return nil, anotherError(role)
		default:
			others = append(others, role)
		}
	}
	switch {
	case len(lost) == 0:
		return same, nil
	// Masters and workers only point at the cluster: that the bootstrap's is the same says that all is.
	case had == "" && len(others) == 0 && slices.Contains(same, payload.Bootstrap):
		return payload.Roles, nil
	}
	return nil, anotherError(lost[0])
}

func anotherError(role payload.Role) error {
	return lostError{What: fmt.Sprintf("the Ignition config of role %s is not what it was, and what is made now is not what was made before: the release image, "+
		"the endpoint, or the name of the machine-config server is another, or another version of the provider makes it", role)}
}

// lostError is something that a payload was made of and that is not there any more, or another one, though machines were made with it.
type lostError struct{ What string }

func (e lostError) Error() string {
	return fmt.Sprintf("%s, and machines were made with the payload, so that no other one may be made: put it back, or set annotation %s to a new "+
		"value that begins with %s", e.What, v1alpha1.RetryAnnotation, v1alpha1.FromScratch)
}

// seal is what a payload is sealed with: all of it as it is stored, and read, and until when it is valid.
type seal struct {
	all      map[string][]byte
	material keys.Material
	ends     time.Time
}

// seals returns what a payload is sealed with. Authorities are stored before it returns. Once machines may have been made with it nothing
// of it is made anew.
func (s *Seen) seals(ctx context.Context, names keys.Names, was held, mayMake bool) (seal, error) {
	authorities, err := s.authorities(ctx, mayMake)
	if err != nil {
		return seal{}, err
	}
	stored, ends := s.storedKeys(was, mayMake)
	all, err := keys.Complete(stored, authorities, names)
	if err != nil {
		return seal{}, err
	}
	if !mayMake && (ends.IsZero() || !maps.EqualFunc(stored, all, bytes.Equal)) {
		return seal{}, lostError{What: fmt.Sprintf("Secret %s is gone, or not what it was", payload.KeysName(s.look.Plane.Name))}
	}
	if ends.IsZero() {
		ends = s.r.now().Add(payload.Lifetime).Truncate(time.Second)
	}
	material, err := keys.Read(all, authorities, names)
	return seal{all: all, material: material, ends: ends}, err
}

// authorities are those of the Cluster. They are made where they are not there, unless machines may trust others.
func (s *Seen) authorities(ctx context.Context, mayMake bool) (secret.Certificates, error) {
	all := keys.Authorities()
	if err := all.Lookup(ctx, s.r.through(), s.clusterKey()); err != nil {
		return nil, fmt.Errorf("reading the authorities of Cluster %s: %w", s.look.Cluster.Name, err)
	}
	if mayMake {
		err := s.r.Keys.Generate(all)
		if err == nil {
			err = all.SaveGenerated(ctx, s.r.through(), s.clusterKey(), s.owner())
		}
		if err != nil {
			return nil, fmt.Errorf("making the authorities of Cluster %s: %w", s.look.Cluster.Name, err)
		}
		return all, nil
	}
	for _, one := range all {
		if one.KeyPair == nil {
			return nil, lostError{What: fmt.Sprintf("Secret %s is gone", secret.Name(s.look.Cluster.Name, one.Purpose))}
		}
	}
	return all, nil
}
