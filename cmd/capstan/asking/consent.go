package asking

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	table "github.com/capstan-capi/capstan/machine/clusterapi"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
)

// Kept is what awaits a consent, by what the operator has told.
type Kept struct {
	// Retained are the objects that are retained for the data in them.
	Retained []guards.RetainedObject
	// Uninstall is the name of a revision that would end what runs, empty for none; Why says what of it.
	Uninstall, Why string
}

// Kept reads what awaits a consent.
func (c *Cluster) Kept(ctx context.Context) (Kept, error) {
	now, err := c.told(ctx)
	if err != nil {
		return Kept{}, err
	}
	return Kept{Retained: now.detail.Retained, Uninstall: now.detail.UninstallConsent, Why: now.detail.Waits}, nil
}

// Of is what is told of an object, and false if it is not retained.
func (k Kept) Of(object string) (guards.RetainedObject, bool) {
	at := slices.IndexFunc(k.Retained, func(r guards.RetainedObject) bool { return r.Named() == object })
	if at < 0 {
		return guards.RetainedObject{}, false
	}
	return k.Retained[at], true
}

// consented says that each of the objects is told as going or gone, or why one stays although somebody consented to lose it at that
// moment. That one is not told as retained says nothing: the operator may not have looked yet, or not been able to.
func consented(now seen, objects []string, at time.Time) (done bool, refused error) {
	kept, untold := Kept{Retained: now.detail.Retained}, ""
	more := slices.ContainsFunc(now.detail.Lost, func(l guards.LostObject) bool { return l.More && l.Asked.Equal(at) })
	for _, object := range objects {
		told, is := kept.Of(object)
		goes := slices.ContainsFunc(now.detail.Lost, func(l guards.LostObject) bool { return l.Named() == object && l.Asked.Equal(at) })
		switch {
		case goes && !is:
		case told.Void != "" && told.Asked.Equal(at):
			return false, &inspect.Error{What: fmt.Sprintf("%s stays: %s", object, told.Void), Next: "look at what it holds now: " + Command(Consent, []string{object}) + ", or take the consent back with " + Unconsent}
		case now.record.State == table.Paused:
			return false, &inspect.Error{What: fmt.Sprintf("%s stays while the operator is paused, and what it holds is looked at after that", object), Next: Resume + ", or take the consent back with " + Unconsent}
		case more && !is:
			untold = object
		default:
			return false, nil
		}
	}
	if untold != "" {
		return false, &inspect.Error{What: fmt.Sprintf("objects go by the consent, and the operator tells of so many that there is no room for %s", untold), Next: "look for it among the consents of the revision: capstan history"}
	}
	return true, nil
}

// uninstalls says that the revision which somebody has consented to is listed, or why it will not be.
func uninstalls(now seen, told guards.Act) (done bool, refused error) {
	back := ", or take the consent back with " + UnconsentToUninstall
	switch {
	case told.Used:
		return true, nil
	case told.Void != "":
		return false, &inspect.Error{What: "the operator does not obey: " + told.String(), Next: "look again: " + phases.ConsentToUninstall + " --reason TEXT" + back}
	case now.record.State == table.Paused:
		return false, &inspect.Error{What: "no revision is listed while the operator is paused", Next: Resume + back}
	case now.record.State == table.MaxRevisions:
		return false, &inspect.Error{What: "no revision is listed while there is no room for it", Next: "capstan recover --dry-run" + back}
	}
	return false, nil
}

// Consent is the command by which people consent to lose data; Unconsent takes a consent back that was not used yet.
const (
	Consent   = "capstan consent"
	Unconsent = "kubectl annotate clusterapi " + phases.Singleton + " " + acts.ConsentAct + "-"
	// UnconsentToUninstall takes a consent to an uninstallation back.
	UnconsentToUninstall = "kubectl annotate clusterapi " + phases.Singleton + " " + acts.UninstallAct + "-"
)
