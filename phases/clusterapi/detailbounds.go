package clusterapi

import (
	"encoding/json"
	"slices"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
)

const (
	// maxDetail bounds the detail in bytes. Of lists that are too long the beginning is kept.
	maxDetail = 16 << 10
	// maxListed bounds each list of it, maxText each text in bytes as it is written in JSON. Names in them may be anybody's choice, so no one text and
	// no one list may take the room of the others.
	maxListed = 64
	maxText   = 512
	// maxEscape is how many bytes JSON takes for one at most.
	maxEscape = len(`\u0000`)
	// maxStrays bounds what strays take, in bytes: there may be any number of them.
	maxStrays = 4 << 10
	// maxManagers bounds the field managers that are named of one object.
	maxManagers = 8
)

// encode writes the detail within its bounds: the list that takes most of the room is cut first.
func (d Detail) encode() []byte {
	d = d.bounded()
	for {
		raw, err := json.Marshal(d)
		if err == nil && len(raw) <= maxDetail {
			return raw
		}
		if err != nil || !d.cutLongest() {
			raw, _ = json.Marshal(Detail{Waits: d.Waits, Acts: d.Acts, Retry: d.Retry, UninstallConsent: d.UninstallConsent}) // text can always be encoded
			return raw
		}
	}
}

// bounded is the detail with the beginning of each list and of each text.
func (d Detail) bounded() Detail {
	d.Retry = short(d.Retry)
	d.Revisions, d.Moves = first(d.Revisions, maxListed), each(d.Moves, shortMove)
	d.Retained, d.Lost, d.Collisions = each(d.Retained, shortRetained), each(firstLost(d.Lost, maxListed), shortLost), each(d.Collisions, shortCollision)
	d.Refused, d.Contested = each(d.Refused, shortRefused), each(d.Contested, shortContested)
	d.Acts, d.Differs, d.LeftAlone = each(d.Acts, shortAct), each(d.Differs, short), each(d.LeftAlone, shortLeft)
	d.Findings, d.Strays, d.Images = each(d.Findings, short), firstBytes(each(d.Strays, short), maxStrays), each(d.Images, shortImage)
	return d
}

// cutLongest halves the list that takes most of the room, and says that there was one to halve.
func (d *Detail) cutLongest() bool {
	lists := []room{
		roomOf(&d.Retained), roomOfLost(&d.Lost), roomOf(&d.Collisions), roomOf(&d.Refused), roomOf(&d.Contested), roomOf(&d.Findings), roomOf(&d.Differs), roomOf(&d.LeftAlone),
		roomOf(&d.Strays), roomOfImages(&d.Images), roomOf(&d.Moves), roomOfRevisions(&d.Revisions),
	}
	longest := slices.MaxFunc(lists, func(a, b room) int { return a.bytes - b.bytes })
	longest.halve()
	return longest.bytes > 0
}

// room is what one list of a detail takes of it, whatever the type.
type room struct {
	bytes int // in JSON, 0 for an empty list
	halve func()
}

func roomOf[T any](of *[]T) room {
	if len(*of) == 0 {
		return room{0, func() {}}
	}
	raw, _ := json.Marshal(*of) // what does not encode takes no room
	return room{len(raw), func() { *of = first(*of, len(*of)/2) }}
}

// roomOfLost marks where the list was cut: people wait for what is on it.
func roomOfLost(of *[]guards.LostObject) room {
	return room{roomOf(of).bytes, func() { *of = firstLost(*of, len(*of)/2) }}
}

func firstLost(list []guards.LostObject, most int) []guards.LostObject {
	kept := slices.Clone(first(list, most))
	if len(kept) > 0 && len(kept) < len(list) {
		kept[len(kept)-1].More = true
	}
	return kept
}

// roomOfRevisions leaves the waves out before a revision.
func roomOfRevisions(of *[]guards.Revision) room {
	l := roomOf(of)
	if slices.ContainsFunc(*of, func(r guards.Revision) bool { return len(r.Waves) > 0 }) {
		l.halve = func() {
			*of = each(*of, func(r guards.Revision) guards.Revision {
				r.Waves = nil
				return r
			})
		}
	}
	return l
}

// roomOfImages leaves the messages out before an image: what is known of one that is not needed is read here after a start.
func roomOfImages(of *[]ImageDetail) room {
	l := roomOf(of)
	if slices.ContainsFunc(*of, func(i ImageDetail) bool { return i.Message != "" }) {
		l.halve = func() {
			*of = each(*of, func(i ImageDetail) ImageDetail {
				i.Message = ""
				return i
			})
		}
	}
	return l
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

// each is the beginning of a list, with each of it shortened.
func each[T any](list []T, shortened func(T) T) []T {
	var all []T
	for _, one := range first(list, maxListed) {
		all = append(all, shortened(one))
	}
	return all
}

// short is a text as it is stored. What stands is compared with what is stored in this form.
func short(text string) string {
	for most := maxText; ; {
		shortened := machine.Shorten(text, most)
		raw, _ := json.Marshal(shortened) // text can always be encoded
		over := len(raw) - len(`""`) - maxText
		if over <= 0 {
			return shortened
		}
		most = min(most, len(shortened)) - max(over/maxEscape, 1)
	}
}

func shortCollision(c guards.Collision) guards.Collision {
	c.Object, c.Holder, c.UID, c.WayOut, c.Changes = short(c.Object), short(c.Holder), short(c.UID), short(c.WayOut), each(c.Changes, short)
	return c
}

func shortRefused(r guards.Refused) guards.Refused {
	r.Object, r.Why = short(r.Object), short(r.Why)
	return r
}

func shortContested(c guards.Contested) guards.Contested {
	c.Object, c.Field, c.By, c.Managers = short(c.Object), short(c.Field), short(c.By), each(first(c.Managers, maxManagers), short)
	return c
}

func shortRetained(r guards.RetainedObject) guards.RetainedObject {
	r.Object, r.Why, r.Void = short(r.Object), short(r.Why), short(r.Void)
	return r
}

func shortLost(l guards.LostObject) guards.LostObject {
	l.Object = short(l.Object)
	return l
}

func shortAct(a guards.Act) guards.Act {
	a.About, a.By, a.Reason, a.Void = short(a.About), short(a.By), short(a.Reason), short(a.Void)
	return a
}

func shortLeft(l guards.LeftAlone) guards.LeftAlone {
	l.Object, l.Differs, l.Probe = short(l.Object), short(l.Differs), short(l.Probe)
	return l
}

// shortImage leaves the reference whole: it is bounded anyway, and is known by the whole of it.
func shortImage(i ImageDetail) ImageDetail {
	i.Message = short(i.Message)
	return i
}

func shortMove(m machine.Candidate) machine.Candidate {
	m.Why = short(m.Why)
	return m
}

// The keys by which what stands is the same as what is stored.

func collisionKey(c guards.Collision) string { return short(c.Object) + " " + short(c.Holder) }

func refusedKey(r guards.Refused) string { return short(r.Object) }

func contestedKey(c guards.Contested) string {
	c = shortContested(c)
	return c.Object + " " + c.Field + " " + strings.Join(c.Managers, " ")
}

func retainedKey(r guards.RetainedObject) string { return short(r.Object) }

func voidKey(v guards.VoidConsent) string { return short(v.Object) + " " + short(v.Void) }
