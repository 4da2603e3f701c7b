package rewrite

// ofPlatform says whether a group that the server has is one that the client is not to
// find: it is the platform's own, or has the name of one that is no place.
func ofPlatform[T string | []byte](group T) bool {
	_, row, match := find(ToClient, group)
	return match == Mapped && bases[row].server != Private
}

// aDiscovery is what the server tells of groups, in the forms of old and of v2:
// a list of groups, a group, the resources of a version.
func aDiscovery() *place {
	version := object(in("groupVersion", aGroup), in("version", nil))
	oldGroup := object(in("name", aGroup), in("versions", each(version)), in("preferredVersion", version))
	oldGroups := &place{items: oldGroup, dropItem: dropNamed("name")}

	responseKind := object(in("responseKind", object(in("group", aGroup))))
	subresources := object(in("responseKind", object(in("group", aGroup))), in("subresources", each(responseKind)))
	newGroup := object(in("metadata", object(in("name", aGroup))), in("versions", each(object(in("resources", each(subresources))))))
	newGroups := &place{items: newGroup, dropItem: dropNamed("metadata", "name")}

	root := object(
		in("groups", oldGroups), in("items", newGroups),
		in("name", aGroup), in("versions", each(version)), in("preferredVersion", version),
		in("groupVersion", aGroup), in("resources", each(object(in("group", aGroup)))),
	)
	sniffing(root, "kind", sniffKind)
	sniffing(root, "apiVersion", sniffVersion)
	root.status = aStatus(Discovery)
	return root
}

// dropNamed leaves out what has the name of a group that the client is not to
// find. The name is at a path of keys, and before what is long.
func dropNamed(path ...string) func([]byte) verdict {
	return func(object []byte) verdict {
		found := undecided
		closed := members(object, func(key, value []byte) {
			if string(key) == path[0] && found == undecided {
				found = verdictOnName(value, path[1:])
			}
		})
		if closed && found == undecided {
			return keep
		}
		return found
	}
}

func verdictOnName(value []byte, path []string) verdict {
	if len(path) > 0 {
		if value[0] != '{' {
			return keep
		}
		return dropNamed(path...)(value)
	}
	if ofPlatform(text(value)) {
		return drop
	}
	return keep
}
