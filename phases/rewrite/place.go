package rewrite

// place is a point of a document: it says what becomes of a string there, and
// what the values below it are. Below a nil place nothing is rewritten.
type place struct {
	rule  rule
	sniff sniff
	keys  []member
	// lengths has a bit for the length of each key.
	lengths uint64
	// once refuses a key of those that is there twice.
	once bool
	// other is what the values of all other keys are.
	other *place
	// items is what the elements of an array are.
	items *place

	// status and table are what an object is once its kind and apiVersion say so.
	status, table *place

	// as is the place that this one is like, but that it is at the root.
	as *place

	// look sees an object before it is read, since what it is depends on what
	// is in it.
	look func(d Direction, object []byte) (*place, verdict, error)
	// dropItem and dropKey say which members the client is not to see; keyRule is what
	// becomes of the keys of those that stay.
	dropItem func(object []byte) verdict
	dropKey  func(key []byte) bool
	keyRule  rule
}

type member struct {
	key   string
	place *place
}

// verdict is what was found by looking ahead.
type verdict int

const (
	// undecided asks for more of the text.
	undecided verdict = iota
	keep
	drop
)

// sniff says that a string tells of what kind its object is.
type sniff uint8

const (
	sniffKind sniff = 1 + iota
	sniffVersion
)

// with adds keys to a place that is being built, and returns it.
func (p *place) with(members ...member) *place {
	p.keys = append(p.keys, members...)
	for _, member := range members {
		p.lengths |= 1 << len(member.key)
	}
	return p
}

// below is what the value of a key is.
func (p *place) below(key []byte) *place {
	if len(key) > 63 || p.lengths&(1<<len(key)) == 0 {
		return p.other
	}
	for i := range p.keys {
		if p.keys[i].key == string(key) {
			return p.keys[i].place
		}
	}
	return p.other
}

// isLike says whether a text may be moved from one place to another: it is a
// group at both or at none, and so is what is below it.
func (p *place) isLike(other *place) bool {
	return p.anyDepth() == other.anyDepth()
}

func (p *place) anyDepth() *place {
	if p == nil || p.as == nil {
		return p
	}
	return p.as
}

// repeated notes a key of those that may be there once, and says whether it was
// there before.
func (f *frame) repeated(key []byte) bool {
	for i, member := range f.place.keys {
		if member.key == string(key) {
			before := f.seen
			f.seen |= 1 << i
			return before == f.seen
		}
	}
	return false
}

// filtered says whether members may be left out.
func (f *frame) filtered() bool {
	if f.place == nil {
		return false
	}
	return f.array && f.place.dropItem != nil || !f.array && f.place.dropKey != nil
}

// each is a place whose array's elements are of one kind.
func each(element *place) *place {
	return &place{items: element}
}

// in is a place below one key.
func in(key string, below *place) member {
	return member{key: key, place: below}
}

// object is a place with keys.
func object(members ...member) *place {
	return new(place).with(members...)
}
