package inventory

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Stray is an object with our marks of which nobody knows where it came from.
type Stray struct {
	Key    decide.Key
	Number int64 // of the revision that it carries
}

// Strays are the objects with the marks of the installation that neither a live revision nor an inventory lists, in order
// of their names.
func Strays(seen iter.Seq2[decide.Key, metav1.Object], us decide.Identity, live func(decide.Key) bool, stored []Stored) []Stray {
	var found []Stray
	var listed map[decide.Key]bool // only made for an object that no revision has
	for key, o := range seen {
		number, ours := marked(o, us)
		if !ours || live(key) || us.Spared(key) {
			continue
		}
		if listed == nil {
			listed = ListedIn(stored)
		}
		if !listed[key.Identity()] {
			found = append(found, Stray{key, number})
		}
	}
	slices.SortFunc(found, func(a, b Stray) int { return cmp.Compare(a.Key.String(), b.Key.String()) })
	return found
}

// marked reads whose an object says it is: this installation's, or nobody else's but with a revision's number.
func marked(o metav1.Object, us decide.Identity) (number int64, ours bool) {
	annotations := o.GetAnnotations()
	number, err := strconv.ParseInt(annotations[decide.RevisionAnnotation], 10, 64)
	switch annotations[decide.OwnerAnnotation] {
	case us.Owner:
		return number, true
	case "":
		return number, err == nil && number > 0
	}
	return 0, false
}

// ListedIn are the objects of all inventories, by identity.
func ListedIn(stored []Stored) map[decide.Key]bool {
	listed := map[decide.Key]bool{}
	for _, s := range stored {
		if s.Inventory == nil {
			continue
		}
		for _, entry := range s.Inventory.Entries {
			listed[entry.Key().Identity()] = true
		}
	}
	return listed
}
