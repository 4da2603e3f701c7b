package clusterapi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// ConsentToUninstall is the command by which people consent to an uninstallation.
const ConsentToUninstall = "capstan consent --uninstall"

// nextOf says what to do about a consent to an uninstallation that is not written as its form has it; empty of another act.
func nextOf(form acts.Form) string {
	if form.Name != acts.ConsentToUninstall {
		return ""
	}
	return "; a bare name, which former releases took, does not count: " + ConsentToUninstall + " writes one that does"
}

// uninstallWithin is for how long a consent to an uninstallation counts. Later nobody expects that a list without images is obeyed.
const uninstallWithin = 24 * time.Hour

// tooFarAhead is how far ahead of the operator's clock a consent to an uninstallation has ended: it would count long after it was
// written. What comes from less far ahead than that, clocks explain.
const tooFarAhead = 10 * time.Minute

// spent says why a consent to an uninstallation does not count. What has ended stays so, whatever a clock says later.
func (p *Pass) spent(act acts.Act, newest int64, now time.Time) (why string, ended bool) {
	text := fmt.Sprint(act)
	switch why, ended = p.ends(act, newest, now); {
	case ended:
		p.memory.endedConsent = text
	case p.memory.endedConsent == text:
		return "it has ended before, and does not begin again; consent again", true
	}
	return why, ended
}

// ends says that a consent to an uninstallation was used, that its number or its time is past, or that its time is yet to come.
func (p *Pass) ends(act acts.Act, newest int64, now time.Time) (why string, ended bool) {
	name := act.RevisionName()
	left, void := act.At.Add(uninstallWithin).Sub(now), act.Void(now)
	switch {
	case void != "":
		return void, act.At.After(now.Add(tooFarAhead))
	case p.world.lists(name):
		return fmt.Sprintf("revision %s is listed", name), true
	case act.Revision() <= newest:
		return fmt.Sprintf("it is for revision %s, and the newest has number %d", name, newest), true
	case left <= 0:
		return fmt.Sprintf("it was not used within %s by the operator's clock, and nothing goes later by surprise; consent again, or look at the clocks", uninstallWithin), true
	}
	p.lookAgainIn(left)
	return "", false
}

// isUsed says that this operator has listed the revision that a consent to an uninstallation is for.
func (p *Pass) isUsed(act acts.Act) bool {
	name := act.RevisionName()
	return name != "" && slices.ContainsFunc(p.world.entries(), func(e operatorv1alpha1.ClusterAPIInstallerRevision) bool {
		return string(e.Name) == name && p.proofs.prove(&e)
	})
}

// usedFor says that the history has a consent to an uninstallation that was used for a number.
func (p *Pass) usedFor(number int64) bool {
	h, _ := p.History.Known()
	r := h.Of(number)
	return r != nil && slices.ContainsFunc(r.Consents, func(used string) bool { return strings.HasPrefix(used, acts.ConsentToUninstall) })
}

func (w world) lists(name string) bool {
	return slices.ContainsFunc(w.entries(), func(e operatorv1alpha1.ClusterAPIInstallerRevision) bool { return string(e.Name) == name })
}

// consentedTo says that an act consents to the revision of a name.
func (p plan) consentedTo(name operatorv1alpha1.RevisionName) bool {
	return p.consent != nil && p.consent.RevisionName() == string(name)
}

// toldConsent is what is told of the consent to an uninstallation, nil while there is none.
func (p *Pass) toldConsent() *guards.Act {
	at := slices.IndexFunc(p.Display.Acts, func(a guards.Act) bool { return a.Name == acts.ConsentToUninstall })
	if at < 0 {
		return nil
	}
	return &p.Display.Acts[at]
}

// judgeUninstallConsent tells of an act that stands why it does not count for what is planned.
func (p *Pass) judgeUninstallConsent(act *acts.Act) {
	told := p.toldConsent()
	if act == nil || told == nil || p.plan.consent != nil {
		return
	}
	switch of := act.RevisionName(); {
	case p.mayBeAnnounced(act):
		told.Waits = "whether its number is taken is not known yet: the inventories of revisions are being looked at"
	case p.plan.consentTo != "":
		told.Void = fmt.Sprintf("it is for revision %s, and the one that awaits consent is %s; %s shows that", of, p.plan.consentTo, ConsentToUninstall)
	case p.plan.revision == nil:
		told.Waits = "which revision the inputs ask for is not known yet"
	default:
		told.Void = fmt.Sprintf("it is for revision %s, and what the inputs ask for needs no consent; capstan consent shows what does", of)
	}
}

// mayBeAnnounced says that a consent names the planned content, by a number that the API server tells of and no inventory that was
// seen yet: it may be the one that was announced, and could not be listed.
func (p *Pass) mayBeAnnounced(act *acts.Act) bool {
	if p.plan.revision == nil {
		return false
	}
	number, counted := p.numberToUninstallBy(act), p.memory.counted
	return number > 0 && number == counted.highest && counted.known && counted.desired == p.world.desiredName() && p.proofs.of(number) == nil
}

// uninstallConsentTold tells of the consent by which the planned revision may end what runs, empty for none.
func (p *Pass) uninstallConsentTold() string {
	if told := p.toldConsent(); told != nil && p.plan.consent != nil {
		return told.String()
	}
	return ""
}

// tellUninstallConsent tells the recorder of a consent that was used: the revision is listed.
func (p *Pass) tellUninstallConsent() {
	if consent := p.plan.consent; consent != nil {
		p.recordUsed(consent)
	}
}

func (p *Pass) recordUsed(consent *acts.Act) {
	p.recorder.Add(recorder.Asked(p.Now(), acts.ConsentToUninstall, "used", consent.About()+", by "+consent.By+": "+consent.Reason))
}

// noteUsed tells recorder and history of a consent whose use nobody has noted: the write that listed its revision had no answer, or
// the process ended right after it.
func (p *Pass) noteUsed() {
	told := p.toldConsent()
	if told == nil || !told.Used {
		return
	}
	act, err := acts.Read(acts.ConsentToUninstall, p.world.api.Annotations[acts.UninstallAct])
	h, _ := p.History.Known()
	r := h.Of(act.Revision())
	if err != nil || r == nil || r.Name != act.RevisionName() || !r.Listed.IsZero() {
		return // where it is noted when it was listed, so is by what
	}
	if p.usedFor(r.Number) {
		return
	}
	p.recordUsed(&act)
	p.History.Consent(r.Name, usedUp(&act))
}

// usedUp is what the history has of a consent to an uninstallation.
func usedUp(consent *acts.Act) string {
	return fmt.Sprintf("%s of %s, by %s: %s", acts.ConsentToUninstall, consent.About(), consent.By, consent.Reason)
}
