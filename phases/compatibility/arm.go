package compatibility

import (
	"context"
	"strings"
	"sync"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// proofLasts is how long a proof of the checker counts: long enough for all that is armed together, and too short for
	// one that broke since.
	proofLasts = 2 * time.Second
	// probeAgain is after how long a checker that has not proved itself is tried again at first.
	probeAgain = 2 * time.Second
	// probeRarely is after how long a checker that has often not proved itself is tried again.
	probeRarely = 10 * time.Second
	// probeTakes bounds a try. Who does not answer has every pass wait for so long.
	probeTakes = 3 * time.Second
	// probeName is that of the requirement with which the checker is tried. It is never stored.
	probeName = "capstan-probe"
	// requirementsHook is the webhook that refuses it.
	requirementsHook = "requirements.capstan.openshift.io"
)

// probe remembers when the checker was tried last, and whether it refused. Lost, it is tried again.
type probe struct {
	mu      sync.Mutex
	at      time.Time
	refused bool
	pause   time.Duration // until the next try
}

// anew has the checker tried at once: another replica may be ready.
func (p *probe) anew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.pause = time.Time{}, 0
}

// next is after how long to look again for a proof.
func (p *probe) next() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.pause, probeAgain)
}

// proves says whether the checker has just refused, through the API server, a requirement that nobody can use. Without
// that nothing becomes Fail: an endpoint that is ready and cannot be reached would stop what it should judge. All passes
// share one try, and what came of it, also of one that failed.
func (p *Phases) proves(ctx context.Context) bool {
	p.probe.mu.Lock()
	defer p.probe.mu.Unlock()
	lasts := p.probe.pause
	if p.probe.refused {
		lasts = proofLasts
	}
	if age := p.Now().Sub(p.probe.at); age >= 0 && age < lasts {
		return p.probe.refused
	}
	p.probe.refused = p.refuses(ctx)
	p.probe.at = p.Now()
	if p.probe.pause = min(max(2*p.probe.pause, probeAgain), probeRarely); p.probe.refused {
		p.probe.pause = 0
	}
	return p.probe.refused
}

func (p *Phases) refuses(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTakes)
	defer cancel()
	bad := &requirementsv1alpha1.CompatibilityRequirement{
		ObjectMeta: metav1.ObjectMeta{Name: probeName},
		Spec: requirementsv1alpha1.CompatibilityRequirementSpec{CompatibilitySchema: requirementsv1alpha1.CompatibilitySchema{
			CustomResourceDefinition: requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: "{}"},
			RequiredVersions:         requirementsv1alpha1.APIVersions{DefaultSelection: requirementsv1alpha1.APIVersionSetTypeStorageOnly},
		}},
	}
	err := p.Client.Create(ctx, bad, client.DryRunAll, client.FieldOwner(Manager))
	return err != nil && strings.Contains(err.Error(), `admission webhook "`+requirementsHook+`" denied the request`)
}

// armed says with which policy a webhook is written: what does not refuse is Ignore, and so is what has no CA bundle; what
// is Fail stays so; anything else becomes Fail only if the checker proves itself.
func (p *Phases) armed(ctx context.Context, c *configuration, k checker) (arm func(hook) admissionregistrationv1.FailurePolicyType, all *bool) {
	every := true
	live := armaments(c.live)
	return func(h hook) admissionregistrationv1.FailurePolicyType {
		switch {
		case !h.denies:
			return admissionregistrationv1.Ignore
		case len(h.ca) == 0:
		case live[h.name].policy == admissionregistrationv1.Fail:
			return admissionregistrationv1.Fail
		case k.arms() && p.proves(ctx):
			return admissionregistrationv1.Fail
		}
		every = false
		return admissionregistrationv1.Ignore
	}, &every
}
