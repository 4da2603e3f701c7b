package clusterapi

import (
	"encoding/json"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
)

// Detail is what commands show beside the record. All of it is derived, and it is
// written anew when it is lost. A new process reads from it which images need not
// be fetched, and what stood in the way of objects that it has not tried yet.
type Detail struct {
	// Waits is the line that conditions, log and Events show.
	Waits string `json:"waits,omitempty"`
	// UninstallConsent is the name of a revision that would end what runs, and awaits the administrator's consent to that.
	UninstallConsent string `json:"uninstallConsent,omitempty"`

	Revisions  []guards.Revision       `json:"revisions,omitempty"`
	Retained   []guards.RetainedObject `json:"retained,omitempty"`
	Lost       []guards.LostObject     `json:"lost,omitempty"`
	Collisions []guards.Collision      `json:"collisions,omitempty"`
	Refused    []guards.Refused        `json:"refused,omitempty"`
	Contested  []guards.Contested      `json:"contested,omitempty"`
	Findings   []string                `json:"findings,omitempty"`
	// Acts are what people ask for by annotations of the ClusterAPI. Differs names objects that are not as revisions have
	// them, while a pause stands, and DiffersCount counts these and those that there is no room for. LeftAlone are those that people
	// ask to leave as they are.
	Acts         []guards.Act       `json:"acts,omitempty"`
	Differs      []string           `json:"differs,omitempty"`
	DiffersCount int                `json:"differsCount,omitempty"`
	LeftAlone    []guards.LeftAlone `json:"leftAlone,omitempty"`
	// HistoryBegins says that the history does not know all revisions that were listed.
	HistoryBegins string `json:"historyBegins,omitempty"`
	// Retry is the word by which another attempt was asked for last: who asks waits until it is told.
	Retry  string   `json:"retry,omitempty"`
	Strays []string `json:"strays,omitempty"`
	// StraysElsewhere are strays in namespaces of others, which are not named; StrayCount counts these, the named ones, and those
	// that there is no room for.
	StraysElsewhere []guards.StrayCount `json:"straysElsewhere,omitempty"`
	StrayCount      int                 `json:"strayCount,omitempty"`

	Images []ImageDetail `json:"images,omitempty"`
	// ImagesBy is the release and the architecture of the operator that found which images are not needed.
	ImagesBy string              `json:"imagesBy,omitempty"`
	Moves    []machine.Candidate `json:"moves,omitempty"`
}

// ImageDetail is how one provider image stands, and the component it brings as
// far as a listed revision says so.
type ImageDetail struct {
	Component string `json:"component,omitempty"`
	Reference string `json:"reference"`
	// State is Ready, Failed, Fetching, Waiting or NotNeeded. An image that is tried again is Failed until it is there.
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	// Platform is the one for which an image that is not needed brings nothing; empty for every platform.
	Platform string `json:"platform,omitempty"`
	// Retry is what annotation retry of the ClusterAPI said when that was found. If it says something else, the image is
	// looked into again.
	Retry string `json:"retry,omitempty"`
}

// notNeeded is the state of an image that is known to bring nothing, and is not fetched.
const notNeeded = "NotNeeded"

// detailOf puts together what is shown beside the record.
func detailOf(line string, d guards.Display, moves []machine.Candidate) Detail {
	return Detail{
		Acts: d.Acts, Differs: d.Differs, DiffersCount: len(d.Differs) + d.MoreDiffers, HistoryBegins: d.HistoryBegins, Retry: d.Retry, LeftAlone: d.LeftAlone,
		Waits: line, UninstallConsent: d.UninstallConsent, Revisions: d.Revisions, Retained: d.Retained, Lost: d.Lost, Collisions: d.Collisions,
		Refused: d.Refused, Contested: d.Contested, Findings: d.Findings, Strays: d.Strays,
		StraysElsewhere: d.StraysElsewhere, StrayCount: len(d.Strays) + d.MoreStrays, Images: imageDetails(d.ImageStates), Moves: moves,
	}
}

// stillStanding takes from the stored detail what is in the way of objects that
// this process has not tried to apply: it may not see it yet.
func (p *Phases) stillStanding(old Detail, now guards.Display) guards.Display {
	if now.Attempted || now.DesiredName == "" {
		return now
	}
	now.Collisions = withUntried(p, now.Collisions, old.Collisions, func(c guards.Collision) string { return short(c.Object) })
	now.Refused = withUntried(p, now.Refused, old.Refused, refusedKey)
	now.Contested = withUntried(p, now.Contested, old.Contested, func(c guards.Contested) string { return short(c.Object) })
	return now
}

// withUntried adds to what stands now what stood before of objects of which nothing is known yet.
func withUntried[T any](p *Phases, now, before []T, object func(T) string) []T {
	told := slices.Clone(now)
	for _, old := range before {
		again := slices.ContainsFunc(now, func(one T) bool { return object(one) == object(old) })
		if !again && !p.hasTried(object(old)) {
			told = append(told, old)
		}
	}
	return told
}

// hasTried says that an object, as it is stored, is in a revision that this process has applied or kept.
func (p *Phases) hasTried(object string) bool {
	for revision := range p.memory.tried {
		for i := range revision.Components {
			if slices.ContainsFunc(revision.Components[i].Keys(), func(k engine.Key) bool { return short(k.String()) == object }) {
				return true
			}
		}
	}
	return false
}

// storedDetail is empty when there is none or it cannot be read.
func storedDetail(raw []byte) Detail {
	var stored Detail
	if json.Unmarshal(raw, &stored) != nil {
		return Detail{}
	}
	return stored
}

func imageDetails(states []guards.ImageState) []ImageDetail {
	var details []ImageDetail
	for _, s := range states {
		detail := ImageDetail{Component: s.Component, Reference: s.Reference, State: "Waiting", Message: s.Message}
		switch {
		case s.NotNeeded:
			detail.State, detail.Platform, detail.Retry = notNeeded, s.Platform, s.Retry
		case s.Ready:
			detail.State = "Ready"
		case s.Failure != "":
			detail.State = "Failed"
		case s.Fetching:
			detail.State = "Fetching"
		}
		details = append(details, detail)
	}
	return details
}
