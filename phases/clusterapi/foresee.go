package clusterapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/phases/images"
	"github.com/capstan-capi/capstan/phases/render"
)

// Foreseer looks once at a cluster, for what its inputs, or others in their place, would come to. It goes the way of a pass
// that plans, with the operator's own phases, and stops before anything is written.
type Foreseer struct {
	phases  *Phases
	engine  *engine.Engine
	changed chan struct{} // of an image
}

// Instead is what takes the place of the cluster's inputs.
type Instead struct {
	Release string // empty: that of the list of images, or of the newest revision
	// Images are those that are named, and Folders those that were read already; if there are none, the list of images counts.
	Images  []images.Ref
	Folders []images.Image
	// Payload is the image of a release whose list of images counts; nil: none is.
	Payload *Payload
	// Credentials are for registries, besides the cluster's.
	Credentials []images.Document
	// Acts are what the operator says of acts; of one of which it says nothing, what is written counts.
	Acts []guards.Act
}

func (i Instead) namesImages() bool { return len(i.Images)+len(i.Folders) > 0 || i.Payload != nil }

// Payload is the image of a release, which keeps the manifests of that in a folder.
type Payload struct {
	Ref    images.Ref
	Folder string
	// List finds the list of images among the files of the folder, by their names.
	List func(files map[string][]byte) (*corev1.ConfigMap, error)
}

// Foresight is what the inputs would come to.
type Foresight struct {
	From, To  *operatorv1alpha1.ClusterAPIInstallerRevision // the newest one, and the one that would follow it; nil for none
	Listed    bool                                          // To is the newest one already
	Forecast  *engine.Forecast                              // nil while the inputs cannot be planned
	Obstacles []Obstacle
	Limits    []string // what is not told, and why
	List      string   // a fingerprint of the list of images, as a rollback names it; empty if there is none
}

// Obstacle is what keeps a revision from being listed.
type Obstacle struct {
	What      string // unseen, inputs, images, manifests, room, consent, pause or pin
	Why, Next string
}

// NewForeseer binds one to a cluster; nothing is sent. What it is given as connections refuses to write. Machine is the name under
// which the operator keeps what it knows of images.
func NewForeseer(o Options, machine string) (*Foreseer, error) {
	f := &Foreseer{changed: make(chan struct{}, 1)}
	o.Again = func() {
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
	var err error
	if f.phases, err = New(o); err != nil {
		return nil, err
	}
	f.phases.name = machine
	var is bool
	if f.engine, is = f.phases.Engine.(*engine.Engine); !is {
		return nil, fmt.Errorf("a %T foresees nothing", f.phases.Engine)
	}
	return f, nil
}

// Foresee looks. It is an error only if the inputs themselves cannot be read; that they may not be is told.
func (f *Foreseer) Foresee(ctx context.Context, in Instead, how engine.ForeseeOptions) (*Foresight, error) {
	told := &Foresight{}
	err := f.foresee(ctx, in, how, told)
	if apierrors.IsForbidden(err) {
		told.Obstacles = append(told.Obstacles, Obstacle{
			What: "unseen", Why: err.Error(), Next: "ask for the right to read it, which ClusterRole and Roles capstan-view have",
		})
		return told, nil
	}
	return told, err
}

func (f *Foreseer) foresee(ctx context.Context, in Instead, how engine.ForeseeOptions, told *Foresight) error {
	p := f.phases
	if in.Payload != nil {
		listed, err := f.listed(ctx, in, told)
		if err != nil {
			return fmt.Errorf("reading the release image %s: %w", in.Payload.Ref, err)
		}
		in = listed
	}
	w, err := f.inputs(ctx, in)
	if err != nil {
		return err
	}
	told.From, told.List = w.desiredEntry(), w.list
	knows := true
	if err := f.engine.ListInventories(ctx); err != nil {
		knows, told.Limits = false, append(told.Limits, fmt.Sprintf("what older revisions have applied is not known: %v", err))
	}
	if err := f.reach(ctx, w, in, told); err != nil {
		return err
	}
	stop, err := f.fetch(ctx, w)
	defer stop()
	if err != nil {
		return err
	}
	pass := &Pass{Phases: p, world: w, proofs: proofs{p.Engine.Proofs(w.numbers()...)}}
	pass.plan = p.makePlan(ctx, w)
	if pass.plan.revision == nil {
		told.Obstacles = append(told.Obstacles, unplannable(pass.plan))
		return ctx.Err()
	}
	rendered := pass.plan.revision
	entry, err := f.next(ctx, pass, told)
	if err != nil {
		return err
	}
	told.To = &entry
	if knows {
		told.Obstacles = append(told.Obstacles, pass.whyNotListed()...)
	}
	told.Obstacles = append(told.Obstacles, pass.whatStands(in.Acts)...)
	pass.note()
	revision := &engine.Revision{
		Name: string(entry.Name), Number: entry.Revision, ContentID: entry.ContentID, Unmanaged: rendered.Unmanaged, Components: p.memory.rendered.components,
	}
	p.Engine.Watch(revision)
	how.Consents = pass.consents(revision.Number)
	told.Forecast, err = f.engine.Foresee(ctx, revision, how)
	return err
}

// inputs are those of the cluster, but for what others take the place of.
func (f *Foreseer) inputs(ctx context.Context, in Instead) (world, error) {
	p, list := f.phases, &corev1.ConfigMap{}
	if _, err := read(ctx, p.Live, client.ObjectKey{Namespace: p.OperatorNamespace, Name: ImagesConfigMap}, list); err != nil && !in.namesImages() {
		return world{}, err
	}
	p.Release = in.Release
	if p.Release == "" && !in.namesImages() {
		p.Release = list.Annotations[ReleaseAnnotation]
	}
	w, err := p.readWorld(ctx, p.Live)
	if err != nil {
		return w, err
	}
	if p.Release == "" {
		p.Release = releaseOf(w.desiredEntry())
	}
	if in.namesImages() {
		w.refs, w.refsErr, w.listRelease, w.leftKeys = sorted(slices.Clone(in.Images)), nil, "", nil
		for _, folder := range in.Folders {
			w.refs = append(w.refs, folder.Ref)
		}
		return w, nil
	}
	return w, p.recallUnneeded(ctx)
}

// unknownRelease begins the name of a revision of which nobody says the release.
const unknownRelease = "unknown"

// releaseOf is what the name of a listed revision begins with.
func releaseOf(entry *operatorv1alpha1.ClusterAPIInstallerRevision) string {
	if entry == nil {
		return unknownRelease
	}
	release, is := strings.CutSuffix(string(entry.Name), render.Name("", entry.ContentID, entry.Revision))
	if !is || release == "" {
		return unknownRelease
	}
	return release
}

// next is how the planned revision would be listed: as it is, if it is the newest one.
func (f *Foreseer) next(ctx context.Context, pass *Pass, told *Foresight) (operatorv1alpha1.ClusterAPIInstallerRevision, error) {
	desired := pass.world.desiredEntry()
	if pass.isListed() {
		told.Listed = true
		return *desired, nil
	}
	if err := f.phases.History.Load(ctx); err != nil { // it has the numbers that a consent was used for
		told.Limits = append(told.Limits, fmt.Sprintf("the revision may get a higher number: %v", err))
	}
	highest, err := f.engine.HighestNumber(ctx, pass.world.numberOf(pass.world.desiredName()))
	if apierrors.IsForbidden(err) {
		told.Limits = append(told.Limits, fmt.Sprintf("the number of the revision is that after the highest one that may be read: %v", err))
		err = nil
	}
	if err != nil {
		return operatorv1alpha1.ClusterAPIInstallerRevision{}, fmt.Errorf("finding the next revision number: %w", err)
	}
	pass.memory.counted = counted{known: true, desired: pass.world.desiredName(), highest: highest}
	return NewEntry(f.phases.Release, pass.numberAfter(highest), pass.plan.revision), nil
}

// whyNotListed says what keeps the planned revision from being listed, as a pass finds out.
func (p *Pass) whyNotListed() (found []Obstacle) {
	listed := p.isListed()
	p.askUninstallConsent()
	if p.plan.awaitsConsent != "" {
		found = append(found, Obstacle{
			What: "consent", Why: p.plan.awaitsConsent,
			Next: "if that is meant: " + ConsentToUninstall + " --reason TEXT",
		})
	}
	if !listed && p.world.api != nil && len(p.world.entries())-len(p.givingWay()) >= guards.MaxRevisions {
		found = append(found, Obstacle{
			What: "room", Why: fmt.Sprintf("%d revisions are listed, and there can be no more", len(p.world.entries())), Next: "capstan recover --dry-run shows which of them can go",
		})
	}
	return found
}

// whatStands are acts because of which nothing would be done, by what the operator has told of them.
func (p *Pass) whatStands(told []guards.Act) []Obstacle {
	var stops []Obstacle
	for _, back := range []struct{ name, by string }{{acts.Pause, "capstan resume"}, {acts.Pin, "capstan unpin"}} {
		act := p.obeyed(back.name, told)
		if act == nil || act.List() != "" && act.List() != p.world.list {
			continue
		}
		until := " until the list of images changes"
		if !act.Until.IsZero() {
			until = " until " + machine.Moment(act.Until)
		}
		stops = append(stops, Obstacle{
			What: act.Name, Why: fmt.Sprintf("by %s since %s%s: %s", act.By, machine.Moment(act.At), until, act.Reason),
			Next: "wait for its end, or " + back.by,
		})
	}
	return stops
}

// obeyed is an act that the operator says it obeys, or will when it has looked; nil for none. It may ignore one that is well formed, such
// as a pin to what the history does not know.
func (p *Pass) obeyed(name string, told []guards.Act) *acts.Act {
	if p.world.api == nil {
		return nil
	}
	act, err := acts.Read(name, p.world.api.Annotations[acts.Annotation(name)])
	if err != nil {
		return nil
	}
	at := slices.IndexFunc(told, func(t guards.Act) bool {
		return t.Name == name && t.By == act.By && t.At.Equal(act.At) && t.Until.Equal(act.Until) && t.Revision == act.Revision()
	})
	switch {
	case at < 0:
		return p.standing(name)
	case act.Ended(p.Now()) || told[at].Void != "" && (told[at].Ended || !p.Now().Before(act.At.Add(takeUpWithin))):
		return nil // within that time it is looked again at what is void
	}
	return &act
}

// unplannable is why the inputs come to nothing.
func unplannable(p plan) Obstacle {
	if p.err == nil {
		return Obstacle{What: "inputs", Why: p.waiting, Next: "the operator waits for it too"}
	}
	o := Obstacle{What: "inputs", Why: p.err.Error()}
	var image *images.Error
	var problems render.ProblemsError
	switch {
	case errors.As(p.err, &image):
		o.What, o.Next = "images", "check the reference, and how its registry is reached"
	case errors.As(p.err, &problems):
		o.What, o.Next = "manifests", "capstan lint shows all that is wrong; repair it in the images"
	}
	return o
}
