package records

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// contentKey is where the records lie in a ConfigMap: a JSON object by the instances' keys, packed with gzip.
	contentKey = "records.json.gz"
	// maxPacked bounds what is stored, below what an API server takes in one object; maxUnpacked what is packed and
	// unpacked, and maxEntry one record of it, both also against content that was forged.
	maxPacked   = 900 << 10
	maxUnpacked = 8 << 20
	maxEntry    = 64 << 10
)

// entries are the records of a shard, as JSON; in changes one that is nil is removed.
type entries map[machine.Key]json.RawMessage

// with is what is there after changes.
func (e entries) with(changes entries) entries {
	all := maps.Clone(e)
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ machine.Key, raw json.RawMessage) bool { return raw == nil })
	return all
}

func (e entries) equal(other entries) bool {
	return maps.EqualFunc(e, other, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

// errFull says that records are too large for one ConfigMap.
var errFull = errors.New("they are too large")

// pack returns errFull, wrapped, for what takes more than so many bytes packed, and for what unpack would not take.
func pack(all entries, room int) ([]byte, error) {
	plain, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encoding records: %w", err)
	}
	if len(plain) > maxUnpacked {
		return nil, fmt.Errorf("%d records take %d bytes, and %d is the most; the machine needs more shards: %w", len(all), len(plain), maxUnpacked, errFull)
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(plain); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	if packed.Len() > room {
		return nil, fmt.Errorf("%d records take %d bytes packed, and %d is the most; the machine needs more shards: %w", len(all), packed.Len(), room, errFull)
	}
	return packed.Bytes(), nil
}

// unpack reads the entries of a ConfigMap that are its own. What it cannot read, and entries that no store would have
// written, are dropped one by one, so that forged content takes no more memory than content of ours.
func unpack(packed []byte, own func(machine.Key) bool) entries {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return entries{}
	}
	all := entries{}
	content := json.NewDecoder(io.LimitReader(zip, maxUnpacked))
	if begin, err := content.Token(); err != nil || begin != json.Delim('{') {
		return entries{}
	}
	for content.More() {
		text, err := content.Token()
		key, is := text.(string)
		if err != nil || !is {
			return entries{}
		}
		var raw json.RawMessage
		if err := content.Decode(&raw); err != nil {
			return entries{}
		}
		if len(raw) > maxEntry || !own(machine.Key(key)) {
			continue
		}
		if _, readable := decoded(raw); readable {
			all[machine.Key(key)] = raw
		}
	}
	if _, err := content.Token(); err != nil {
		return entries{}
	}
	return all
}
