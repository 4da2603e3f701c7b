package rewrite

import "slices"

// Direction tells which way text goes.
type Direction int

const (
	// ToServer turns what a client says into what the server stores.
	ToServer Direction = iota
	// ToClient turns what the server stores into what a client sees.
	ToClient
)

// The three bases of groups.
const (
	Standard = "cluster.x-k8s.io"
	Private  = "cluster.hypershift.openshift.io"
	// Native is how a client of the private types sees the platform's own
	// objects of the standard groups.
	Native = "platform-native.cluster.x-k8s.io"
)

// The one table: what a client sees of each base that the server stores.
var (
	bases = []struct{ client, server string }{
		{client: Standard, server: Private},
		{client: Native, server: Standard},
		{client: Private, server: Native},
	}
	prefixes = []string{"infrastructure", "controlplane", "bootstrap", "addons", "ipam", "runtime"}
)

// Match tells what a text was found to be.
type Match int

const (
	// NoMatch is text that has none of the bases.
	NoMatch Match = iota
	// Mapped is a group of the table.
	Mapped
	// OtherPrefix is a group under one of the bases whose prefix is not in the
	// table. It passes as it is; who uses the text counts it.
	OtherPrefix
)

func (d Direction) String() string {
	if d == ToServer {
		return "to server"
	}
	return "to client"
}

// Group maps a whole API group. A group that is not of the table comes back as
// it is.
func (d Direction) Group(group string) (string, Match) {
	start, row, match := find(d, group)
	if match != Mapped {
		return group, match
	}
	return group[:start] + d.to(row), Mapped
}

// GroupVersion maps a whole "group" or "group/version".
func (d Direction) GroupVersion(text string) (string, Match) {
	end := groupEnd(text)
	mapped, match := d.Group(text[:end])
	if match != Mapped {
		return text, match
	}
	return mapped + text[end:], Mapped
}

// CRDName maps the name of a CRD, "<plural>.<group>".
func (d Direction) CRDName(name string) (string, Match) {
	start := groupStart(name)
	mapped, match := d.Group(name[start:])
	if match != Mapped {
		return name, match
	}
	return name[:start] + mapped, Mapped
}

// from is the base of a row that is turned, to what it is turned into.
func (d Direction) from(row int) string {
	if d == ToServer {
		return bases[row].client
	}
	return bases[row].server
}

func (d Direction) to(row int) string {
	return (1 - d).from(row)
}

// find returns where in group its base starts, and the row of the table. One
// base ends in another one, so all are asked: no group is of the table by two
// of them, since no prefix has a dot.
func find[T string | []byte](d Direction, group T) (start, row int, match Match) {
	for row := range bases {
		base := d.from(row)
		start := len(group) - len(base)
		switch {
		case start < 0 || string(group[start:]) != base:
		case start == 0 || isPrefix(group[:start]):
			return start, row, Mapped
		case group[start-1] == '.':
			match = OtherPrefix
		}
	}
	return 0, 0, match
}

// isPrefix says whether text is a prefix of the table with its dot.
func isPrefix[T string | []byte](text T) bool {
	end := len(text) - 1
	if text[end] != '.' {
		return false
	}
	for _, prefix := range prefixes {
		if string(text[:end]) == prefix {
			return true
		}
	}
	return false
}

// groupEnd is where the group of a "group" or "group/version" ends: at 0 if text
// is neither.
func groupEnd[T string | []byte](text T) int {
	for i := range len(text) {
		if text[i] != '/' {
			continue
		}
		if i+1 == len(text) || slices.Contains([]byte(text[i+1:]), '/') {
			return 0
		}
		return i
	}
	return len(text)
}

// groupStart is where the group in "<plural>.<group>" starts: at the end if name
// is no such name.
func groupStart[T string | []byte](name T) int {
	for i := range len(name) {
		if name[i] == '.' && i > 0 {
			return i + 1
		}
		if name[i] == '.' {
			break
		}
	}
	return len(name)
}
