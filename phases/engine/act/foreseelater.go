package act

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// laterBecause says with which wave comes what an object waits for.
func (f *foresight) laterBecause(t *target, why string) string {
	if crd := f.p.crds[t.Key.GVK().GroupKind()]; crd != nil {
		return fmt.Sprintf("its kind comes in wave %d", f.p.waves[crd.wave].number)
	}
	return why
}

// namespaceComes says that the namespace of an object is one of the revision that is not there yet; empty if it is there, or
// nobody's.
func (f *foresight) namespaceComes(t *target) string {
	of := f.p.keys[decide.Key{Kind: "Namespace", Name: t.Key.Namespace}]
	if t.Key.Namespace == "" || of == nil || of.wave >= t.wave {
		return ""
	}
	if o := f.outlookOf(of.Key.Identity()); o != nil && o.Outlook == report.WouldCreate {
		return fmt.Sprintf("its namespace comes in wave %d", f.p.waves[of.wave].number)
	}
	return ""
}

// judgeBySchema tells of an instance whose definition changes before it does that it was tried by the schema as it is.
func (f *foresight) judgeBySchema(o *report.Foreseen, j *job) {
	if wave := f.schemaComes(j.t); wave > 0 {
		o.How, o.Why = report.Later, fmt.Sprintf("its schema comes in wave %d; %s", wave, o.Why)
	}
}

// schemaComes is the wave in which the definition of an object's kind changes; 0 if it does not.
func (f *foresight) schemaComes(t *target) int {
	crd := f.p.crds[t.Key.GVK().GroupKind()]
	if crd == nil || crd.wave >= t.wave {
		return 0
	}
	if o := f.outlookOf(crd.Key.Identity()); o != nil && o.Outlook == report.WouldChange {
		return f.p.waves[crd.wave].number
	}
	return 0
}

// comes says that an object would be created or changed.
func (f *foresight) comes(key decide.Key) bool {
	o := f.outlookOf(key.Identity())
	return o != nil && (o.Outlook == report.WouldCreate || o.Outlook == report.WouldChange)
}

// stuck tells of a gate that would stay closed: that of a definition whose names another one has, and that of a requirement
// which is not met as things are.
func (f *foresight) stuck(o *report.Foreseen, t *target) {
	switch {
	case o.LeftAlone:
	case t.Key.IsCRD():
		plural, _, _ := strings.Cut(t.Key.Name, ".")
		f.e.cluster.Lock()
		defer f.e.cluster.Unlock()
		for gvk, served := range f.e.kinds.Discovered.Kinds {
			if gvk.GroupKind() == t.Defines && served.GVR.Resource != plural {
				o.StuckBy, o.Stuck = report.StuckNames, fmt.Sprintf("kind %s of API group %s is served already, as %s: the names of the definition would not be accepted", gvk.Kind, gvk.Group, served.GVR.Resource)
				return
			}
		}
	case t.About != "" && f.e.cfg.Meets != nil:
		f.p.mu.Lock()
		required, current := t.required, t.observation.current
		f.p.mu.Unlock()
		if required.Object == nil {
			return // it is judged once it is there
		}
		if met := f.e.cfg.Meets(required, current); met.Answer == decide.AnswerFalse {
			o.StuckBy, o.Stuck = report.StuckRequirements, met.Message
		}
	}
}

// resourceNamed is the resource of a kind that is not served, by the definition that the revision has of it.
func (p *plan) resourceNamed(kind schema.GroupKind) (plural string, known bool) {
	if crd := p.crds[kind]; crd != nil {
		plural, _, known = strings.Cut(crd.Key.Name, ".")
	}
	return plural, known
}
