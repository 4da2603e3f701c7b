package clusterapi

import (
	"encoding/json"
	"slices"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/engine"
)

// maxDetail bounds the detail in bytes. Of lists that are too long the beginning is kept.
const maxDetail = 16 << 10

// maxStrays bounds what of that strays take: they are the only part of which somebody else may choose how long it is.
const maxStrays = 4 << 10

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
	Collisions []guards.Collision      `json:"collisions,omitempty"`
	Refused    []guards.Refused        `json:"refused,omitempty"`
	Contested  []guards.Contested      `json:"contested,omitempty"`
	Findings   []string                `json:"findings,omitempty"`
	Strays     []string                `json:"strays,omitempty"`
	Images     []ImageDetail           `json:"images,omitempty"`
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
		Waits: line, UninstallConsent: d.UninstallConsent, Revisions: d.Revisions, Retained: d.Retained, Collisions: d.Collisions,
		Refused: d.Refused, Contested: d.Contested, Findings: d.Findings, Strays: d.Strays, Images: imageDetails(d.ImageStates), Moves: moves,
	}
}

// stillStanding takes from the stored detail what is in the way of objects that
// this process has not tried to apply: it may not see it yet.
func (p *Phases) stillStanding(old Detail, now guards.Display) guards.Display {
	if now.Attempted || now.DesiredName == "" {
		return now
	}
	now.Collisions = withUntried(p, now.Collisions, old.Collisions, func(c guards.Collision) string { return c.Object })
	now.Refused = withUntried(p, now.Refused, old.Refused, func(r guards.Refused) string { return r.Object })
	now.Contested = withUntried(p, now.Contested, old.Contested, func(c guards.Contested) string { return c.Object })
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

// hasTried says that an object, as it is told, is in a revision that this process has applied or kept.
func (p *Phases) hasTried(object string) bool {
	for revision := range p.memory.tried {
		for i := range revision.Components {
			if slices.ContainsFunc(revision.Components[i].Keys(), func(k engine.Key) bool { return k.String() == object }) {
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

// encode writes the detail within its bounds.
func (d Detail) encode() []byte {
	d.Strays = firstBytes(d.Strays, maxStrays)
	for _, most := range [...]int{64, 16, 4, 1, 0} {
		if raw, err := json.Marshal(d.shortened(most)); err == nil && len(raw) <= maxDetail {
			return raw
		}
	}
	raw, _ := json.Marshal(Detail{Waits: d.Waits, UninstallConsent: d.UninstallConsent}) // text can always be encoded
	return raw
}

func (d Detail) shortened(most int) Detail {
	d.Revisions, d.Retained, d.Collisions = first(d.Revisions, most), first(d.Retained, most), first(d.Collisions, most)
	d.Refused, d.Contested, d.Strays = first(d.Refused, most), first(d.Contested, most), first(d.Strays, most)
	d.Findings, d.Images = first(d.Findings, most), first(d.Images, most)
	return d
}

func first[T any](list []T, most int) []T { return list[:min(len(list), most)] }

// firstBytes is the beginning of a list that takes at most so many bytes.
func firstBytes(list []string, most int) []string {
	for i, text := range list {
		if most -= len(text); most < 0 {
			return list[:i]
		}
	}
	return list
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
