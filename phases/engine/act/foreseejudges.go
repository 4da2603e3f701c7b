package act

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
	"github.com/capstan-capi/capstan/phases/engine/report"
)

// comingJudge is a webhook or an admission policy that comes with the revision, or changes with it: a dry run does not ask it, or not as
// it will be.
type comingJudge struct {
	decide.Judge
	how  string // comes or changes
	wave int    // its number
}

// String says when it will have a say.
func (j *comingJudge) String() string {
	return fmt.Sprintf("%s, which has a say in it, %s in wave %d", j.Name, j.how, j.wave)
}

// addJudges takes up those that come with a wave that was foreseen. A policy that the revision binds judges with what binds it, which is
// in the wave after it.
func (f *foresight) addJudges(w *wave) {
	for _, t := range w.targets {
		how := f.comingAs(t)
		if how == "" {
			how = f.comingAs(t.bound)
		}
		if how == "" || f.isBound(t) {
			continue
		}
		for _, j := range decide.JudgesOf(t.plain(), t.bound.plain()) {
			f.judges = append(f.judges, comingJudge{Judge: j, how: how, wave: w.number})
		}
	}
}

// isBound says that the revision has what puts a target into force.
func (f *foresight) isBound(t *target) bool {
	return slices.ContainsFunc(f.p.targets, func(b *target) bool { return b.bound == t })
}

// comingAs says whether a judge is new or judges otherwise by the revision; empty for neither. Other objects are no judges.
func (f *foresight) comingAs(t *target) string {
	if t == nil || t.Key.Group != admissionregistrationv1.GroupName {
		return ""
	}
	o := f.outlookOf(t.Key.Identity())
	switch {
	case o == nil:
		return ""
	case o.Outlook == report.WouldCreate, o.Outlook == report.WouldReplace:
		return "comes"
	case o.Outlook == report.WouldChange && slices.ContainsFunc(o.Changes, func(c decide.Change) bool {
		return strings.HasPrefix(c.Path, ".spec") || strings.HasPrefix(c.Path, ".webhooks")
	}):
		return "changes"
	}
	return ""
}

// operations are what an outlook asks of an API server.
var operations = map[report.Outlook][]admissionregistrationv1.OperationType{
	report.WouldCreate:  {admissionregistrationv1.Create},
	report.WouldChange:  {admissionregistrationv1.Update},
	report.WouldMark:    {admissionregistrationv1.Update},
	report.WouldReplace: {admissionregistrationv1.Delete, admissionregistrationv1.Create},
	report.WouldRemove:  {admissionregistrationv1.Delete},
}

// judgedLater tells of an object that those will judge that come before it: what a dry run says of it now, it says without them. What
// only older revisions have is no target, and comes after all of them.
func (f *foresight) judgedLater(o *report.Foreseen, t *target) {
	if operations[o.Outlook] == nil || o.How == report.Unseen || len(f.judges) == 0 {
		return
	}
	copies := []*unstructured.Unstructured{o.Before, o.After}
	if t != nil {
		copies = append(copies, t.Desired(t.Stamp).Payload)
	}
	w := &decide.Writing{Key: o.Key, Resource: o.Resource.Resource, Operations: operations[o.Outlook], Namespace: f.namespaceLabels(o.Key)}
	for _, known := range copies {
		if known != nil {
			w.Labels = append(w.Labels, known.GetLabels())
		}
	}
	var whys []string
	for i := range f.judges {
		if j := &f.judges[i]; j.MayJudge(w) {
			whys = append(whys, j.String())
		}
	}
	if len(whys) == 0 {
		return
	}
	if o.Why != "" {
		whys = append(whys, o.Why)
	}
	o.How, o.Why = report.Later, strings.Join(whys, "; ")
}

// namespaceLabels are what the revision tells of the labels of the namespace that an object is in, or of a Namespace its own.
func (f *foresight) namespaceLabels(key decide.Key) map[string]string {
	name := key.Namespace
	if key.IsNamespace() {
		name = key.Name
	}
	return decide.NamespaceLabels(name, f.p.keys[decide.Key{Kind: "Namespace", Name: name}].plain())
}

// refusedByComing tells of something that a judge refuses as it is now, and may not when that is written; empty if none does.
func (f *foresight) refusedByComing(err error) string {
	for _, j := range f.judges {
		if j.how == "changes" && j.Refused(err) {
			return fmt.Sprintf("%s changes in wave %d, and refuses it as it is now: %v", j.Name, j.wave, err)
		}
	}
	return ""
}
