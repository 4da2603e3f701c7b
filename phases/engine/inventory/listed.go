package inventory

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// Listed is what a stored inventory lists, for tools that prove something from it.
type Listed struct {
	Revision  string
	Number    int64
	ContentID string
	// Objects are those of the revision itself, Retained those of older ones that are kept for the data in them.
	Objects, Retained []decide.Key
}

// ReadListed reads the ConfigMap of an inventory. One that is damaged, or of another number than its name says, is an
// error.
func (p Place) ReadListed(configMap *unstructured.Unstructured) (Listed, error) {
	inv, err := p.Read(configMap)
	if err != nil {
		return Listed{}, err
	}
	listed := Listed{Revision: inv.Revision, Number: inv.Number, ContentID: inv.ContentID}
	for _, entry := range inv.Entries {
		if entry.Retained {
			listed.Retained = append(listed.Retained, entry.Key())
		} else {
			listed.Objects = append(listed.Objects, entry.Key())
		}
	}
	return listed, nil
}
