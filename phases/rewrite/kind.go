package rewrite

// kind is what was seen of an object's kind and apiVersion.
type kind uint8

const (
	kindStatus kind = 1 << iota
	kindTable
	versionStatus
	versionTable
)

// learn notes what an object says of itself. A server says so before all else, and once: what has passed is not taken back for a second word.
func (f *frame) learn(what sniff, text []byte) {
	switch {
	case f.place == nil || f.array:
		return
	case what == sniffKind && string(text) == "Status":
		f.seen |= kindStatus
	case what == sniffKind && string(text) == "Table":
		f.seen |= kindTable
	case what == sniffVersion && string(text) == "v1":
		f.seen |= versionStatus
	case what == sniffVersion && (string(text) == "meta.k8s.io/v1" || string(text) == "meta.k8s.io/v1beta1"):
		f.seen |= versionTable
	}
	switch {
	case f.seen&(kindStatus|versionStatus) == kindStatus|versionStatus && f.place.status != nil:
		f.place = f.place.status
	case f.seen&(kindTable|versionTable) == kindTable|versionTable && f.place.table != nil:
		f.place = f.place.table
	}
}
