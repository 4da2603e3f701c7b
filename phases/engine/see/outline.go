package see

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capstan-capi/capstan/phases/engine/decide"
)

// outlined are the parts of an object that say what it is and how it stands.
var outlined = []string{"metadata.name", "metadata.uid", "metadata.generation", "metadata.deletionTimestamp", "status"}

// Outline is an object without its spec and most of its metadata, nil for none.
func (o *Object) Outline() *unstructured.Unstructured {
	if o == nil {
		return nil
	}
	var metadata, rest []string
	for i, part := range gjson.GetManyBytes(o.packed.Text(), outlined...) {
		name, in := strings.CutPrefix(outlined[i], "metadata.")
		switch text := fmt.Sprintf("%q:%s", name, part.Raw); {
		case !part.Exists():
		case in:
			metadata = append(metadata, text)
		default:
			rest = append(rest, text)
		}
	}
	text := "{" + strings.Join(append([]string{`"metadata":{` + strings.Join(metadata, ",") + "}"}, rest...), ",") + "}"
	return &unstructured.Unstructured{Object: decide.FromJSON([]byte(text))}
}
