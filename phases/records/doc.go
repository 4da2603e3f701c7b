// Package records keeps the records of families: in the status of the instance's
// own object, in two conditions of an object of another owner's kind, or in
// ConfigMaps, many to one or one for each. It knows no machine, decides nothing,
// and writes nothing when nothing has changed. A singleton's record is the matter
// of package status.
//
// ConfigMaps are for families of others' kinds. An entry there has the record and
// a note of the family: what must count whatever becomes of the record and the
// object, such as attempts. Records may be late; a note is stored before what it
// counts is done.
//
// The shard of an instance follows from its key alone, so whoever chooses names
// of objects chooses their shards, and can fill that of somebody else. What is
// full then loses transitions first, and refuses what is new; the records that
// are stored stay.
package records

import (
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/machine"
)

// ObjectOf is the object that a key is of: namespace/name, or the name of an object without a namespace.
func ObjectOf(key machine.Key) client.ObjectKey {
	if namespace, name, in := strings.Cut(string(key), "/"); in {
		return client.ObjectKey{Namespace: namespace, Name: name}
	}
	return client.ObjectKey{Name: string(key)}
}
