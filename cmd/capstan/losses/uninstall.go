package losses

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// Uninstall is what becomes of what runs with a revision that would end it; its JSON is what capstan consent --uninstall -o json prints.
type Uninstall struct {
	Revision string `json:"revision"`
	// Removed are the first of the objects that would be deleted, and More how many are not named; the same of those that would stay.
	Removed  []End `json:"removed"`
	More     int   `json:"more,omitempty"`
	Stays    []End `json:"stays"`
	MoreStay int   `json:"moreStay,omitempty"`
	// Counts are of all that would be deleted, by kind.
	Counts map[string]int `json:"counts"`
	// Stops are what would stop the revision besides.
	Stops  []string `json:"stops,omitempty"`
	Digest string   `json:"digest"`
}

// End is what becomes of one object: Verdict is that of capstan plan.
type End struct {
	Object  string         `json:"object"`
	UID     string         `json:"uid,omitempty"`
	Created time.Time      `json:"created,omitzero"`
	Verdict engine.Outlook `json:"verdict"`
	Why     string         `json:"why,omitempty"`
}

// line tells it from all else.
func (e End) line() string { return fmt.Sprintf("%s %s %s\n", e.Verdict, e.Object, e.UID) }

// UninstallOf makes it of what was foreseen of the revision that the operator asks about by this name; named are so many of each list at
// most. What nobody can tell all of, nobody can consent to.
func UninstallOf(seen *phases.Foresight, asked string, named int) (Uninstall, error) {
	if err := sees(seen, asked); err != nil {
		return Uninstall{}, err
	}
	u := Uninstall{Revision: string(seen.To.Name), Removed: []End{}, Stays: []End{}, Counts: map[string]int{}}
	for _, o := range seen.Obstacles {
		if o.What != "consent" {
			u.Stops = append(u.Stops, fmt.Sprintf("%s: %s; next: %s", o.What, o.Why, o.Next))
		}
	}
	var lines []string
	for _, o := range workloadsFirst(seen.Forecast.Removals) {
		end := endOf(o)
		lines = append(lines, end.line())
		if o.Outlook == engine.WouldDeny {
			u.Stops = append(u.Stops, end.Object+": "+o.Why)
		}
		if o.Outlook != engine.WouldRetain && o.Outlook != engine.WouldLeave && o.Outlook != engine.WouldMark {
			u.Removed = append(u.Removed, end)
			u.Counts[kindOf(o.Key)]++
		} else if o.UID != "" {
			u.Stays = append(u.Stays, end)
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte("revision: " + u.Revision + "\n" + strings.Join(lines, "")))
	u.Digest = hex.EncodeToString(sum[:])
	u.More, u.MoreStay = max(0, len(u.Removed)-named), max(0, len(u.Stays)-named)
	u.Removed, u.Stays = u.Removed[:len(u.Removed)-u.More], u.Stays[:len(u.Stays)-u.MoreStay]
	return u, nil
}

// sees says why it cannot be told what would be removed, nil if it can.
func sees(seen *phases.Foresight, asked string) error {
	var unseen []string
	if seen.Forecast != nil {
		unseen = append(unseen, seen.Forecast.Unseen...)
		for _, o := range seen.Forecast.Removals {
			if o.How == engine.Unseen {
				unseen = append(unseen, objectOf(o.Key)+": "+o.Why)
			}
		}
	}
	is := func(what string) int {
		return slices.IndexFunc(seen.Obstacles, func(o phases.Obstacle) bool { return o.What == what })
	}
	consent, pin := is("consent"), is("pin")
	switch {
	case pin >= 0 && consent < 0: // what is computed here is of the list, and the operator asks about what is pinned
		return &inspect.Error{What: "it is a pin that the operator asks about, and not the list of images: " + seen.Obstacles[pin].Why, Next: "take the pin back: capstan unpin"}
	case seen.Forecast == nil && len(seen.Obstacles) > 0:
		first := seen.Obstacles[0]
		return &inspect.Error{What: "what would be removed cannot be told: " + first.Why, Next: cmp.Or(first.Next, "look at capstan plan")}
	case seen.Forecast == nil || len(unseen) > 0:
		return &inspect.Error{What: "you may not see all that would be removed: " + strings.Join(unseen, "; "), Next: "ask for that right, or have somebody consent who has it; capstan plan shows the rest"}
	case consent < 0 && len(seen.Limits) > 0:
		return &inspect.Error{What: "what would be removed cannot be told: " + strings.Join(seen.Limits, "; "), Next: "ask for the right to read that"}
	case consent < 0:
		return &inspect.Error{What: fmt.Sprintf("by now the inputs ask for revision %s, which needs no consent, or has it", seen.To.Name), Next: "look again: capstan consent"}
	case content(string(seen.To.Name)) != content(asked):
		return &inspect.Error{
			What: fmt.Sprintf("the operator asks about revision %s, and the inputs come to %s", asked, seen.To.Name), Next: "run it again, once it has looked at them",
		}
	}
	return nil
}

// content is the name of a revision without its number, which the operator may only guess.
func content(name string) string { return name[:max(0, strings.LastIndex(name, "-"))] }

// ReleaseOf is the release in the name of a revision.
func ReleaseOf(name string) string {
	name = content(name)
	return name[:max(0, strings.LastIndex(name, "-"))]
}

func endOf(o *engine.Foreseen) End {
	end := End{Object: objectOf(o.Key), UID: string(o.UID), Created: o.Created, Verdict: o.Outlook, Why: o.Why}
	if o.Holds != "" {
		end.Why = "holds " + o.Holds
	}
	return end
}

func kindOf(key engine.Key) string { return strings.TrimSuffix(key.Kind+"."+key.Group, ".") }

func objectOf(key engine.Key) string {
	return kindOf(key) + " " + strings.TrimPrefix(key.Namespace+"/"+key.Name, "/")
}

// workloadsFirst are objects in the order of their removal, but for what runs, which comes first.
func workloadsFirst(all []*engine.Foreseen) []*engine.Foreseen {
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b *engine.Foreseen) int { return cmp.Compare(runs(a), runs(b)) })
	return ranked
}

func runs(o *engine.Foreseen) int {
	if o.Key.Group == "apps" {
		return 0
	}
	return 1
}

// Text tells of it in lines, as it stands at a moment.
func (u Uninstall) Text(now time.Time) string {
	var b strings.Builder
	removed, stay := len(u.Removed)+u.More, len(u.Stays)+u.MoreStay
	fmt.Fprintf(&b, "Removed: %s%s\n", objects(removed), u.kinds())
	writeEnds(&b, u.Removed, u.More, now)
	fmt.Fprintf(&b, "Stays:   %s\n", objects(stay))
	writeEnds(&b, u.Stays, u.MoreStay, now)
	for _, stop := range u.Stops {
		fmt.Fprintf(&b, "Stops:   %s\n", stop)
	}
	fmt.Fprintf(&b, "Digest:  %s\n", u.Digest)
	return b.String()
}

func objects(count int) string {
	if count == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", count)
}

// kinds counts what would be deleted by kind.
func (u Uninstall) kinds() string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(u.Counts)) {
		all = append(all, fmt.Sprintf("%s %d", kind, u.Counts[kind]))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

func writeEnds(b *strings.Builder, ends []End, more int, now time.Time) {
	if len(ends) == 0 {
		return
	}
	table := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "    OBJECT\tAGE\tBECOMES\tWHY\t")
	for _, e := range ends {
		fmt.Fprintf(table, "    %s\t%s\t%s\t%s\t\n", cell(e.Object), age(e.Created, now), e.Verdict, cell(e.Why))
	}
	_ = table.Flush() // a builder takes all
	if more > 0 {
		fmt.Fprintf(b, "    and %d more: --all names them\n", more)
	}
}
