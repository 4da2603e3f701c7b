package records

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// contentKey is where the entries lie in a ConfigMap: a JSON object by the instances' keys, packed with gzip.
	contentKey = "records.json.gz"
	// maxPacked bounds what is stored, below what an API server takes in one object; maxUnpacked what is packed and
	// unpacked, and maxEntry one entry of it, both also against content that was forged.
	maxPacked   = 900 << 10
	maxUnpacked = 8 << 20
	maxEntry    = 64 << 10
	// overhead is what an entry takes beside record and note.
	overhead = len(`{"record":,"note":}`)
)

// entry is what is stored of an instance.
type entry struct {
	Record json.RawMessage `json:"record,omitempty"`
	Note   json.RawMessage `json:"note,omitempty"`
}

func (e entry) size() int { return len(e.Record) + len(e.Note) }

func (e entry) equal(other entry) bool {
	return bytes.Equal(e.Record, other.Record) && bytes.Equal(e.Note, other.Note)
}

// entries are those of a ConfigMap; in changes one that is empty is removed.
type entries map[machine.Key]entry

// with is what is there after changes.
func (e entries) with(changes entries) entries {
	all := maps.Clone(e)
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ machine.Key, e entry) bool { return e.size() == 0 })
	return all
}

func (e entries) equal(other entries) bool { return maps.EqualFunc(e, other, entry.equal) }

// errFull says that entries are too large for one ConfigMap.
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
	packed, err := zipped(plain)
	if err != nil {
		return nil, err
	}
	if len(packed) > room {
		return nil, fmt.Errorf("%d records take %d bytes packed, and %d is the most; the machine needs more shards: %w", len(all), len(packed), room, errFull)
	}
	return packed, nil
}

// A writer of gzip takes 800 KiB, and the shards of a wave are packed at the same time: one after the other, they use the same one.
var (
	zipping sync.Mutex
	writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}
)

func zipped(plain []byte) ([]byte, error) {
	zipping.Lock()
	defer zipping.Unlock()
	zip, _ := writers.Get().(*gzip.Writer) // nothing else is in there
	defer writers.Put(zip)
	var packed bytes.Buffer
	zip.Reset(&packed)
	if _, err := zip.Write(plain); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// content is what a ConfigMap holds.
type content struct {
	all entries
	// dropped are the keys of entries of which something was dropped.
	dropped []machine.Key
	// err says that nothing of it can be read.
	err error
}

// unpack reads the entries of a ConfigMap that are its own. What it cannot read, and what no store would have written,
// is dropped one by one, so that forged content takes no more memory than content of ours.
func unpack(packed []byte, own func(machine.Key) bool, maxNote int) content {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return content{all: entries{}, err: err}
	}
	read := content{all: entries{}}
	from := json.NewDecoder(io.LimitReader(zip, maxUnpacked))
	if begin, err := from.Token(); err != nil || begin != json.Delim('{') {
		return content{all: entries{}, err: errors.Join(err, errNoEntries)}
	}
	for from.More() {
		text, err := from.Token()
		key, is := text.(string)
		if err != nil || !is {
			return content{all: entries{}, err: errors.Join(err, errNoEntries)}
		}
		var raw json.RawMessage
		if err := from.Decode(&raw); err != nil {
			return content{all: entries{}, err: err}
		}
		e, whole := entryOf(raw, maxNote)
		if !own(machine.Key(key)) {
			e, whole = entry{}, false
		}
		if e.size() > 0 {
			read.all[machine.Key(key)] = e
		}
		if !whole {
			read.dropped = append(read.dropped, machine.Key(key))
		}
	}
	if _, err := from.Token(); err != nil {
		return content{all: entries{}, err: err}
	}
	return read
}

// Of reads the records that a ConfigMap of a family holds, for who only looks. What cannot be read of it is left out.
func Of(stored *corev1.ConfigMap) (map[machine.Key]machine.Record, error) {
	all := map[machine.Key]machine.Record{}
	if len(stored.BinaryData[contentKey]) == 0 {
		return all, nil
	}
	read := unpack(stored.BinaryData[contentKey], func(machine.Key) bool { return true }, maxEntry)
	for key, e := range read.all {
		if record, is := Decoded(e.Record); is {
			all[key] = record
		}
	}
	if read.err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s/%s: %w", stored.Namespace, stored.Name, read.err)
	}
	return all, nil
}

// errNoEntries is why content is spoilt that is JSON.
var errNoEntries = errors.New("it is no JSON object by keys")

// entryOf is what can be read of an entry; whole says that this is all.
func entryOf(raw json.RawMessage, maxNote int) (e entry, whole bool) {
	if len(raw) > maxEntry || json.Unmarshal(raw, &e) != nil {
		return entry{}, false
	}
	record, err := compacted(e.Record)
	note, wrong := compacted(e.Note)
	if err != nil || wrong != nil {
		return entry{}, false
	}
	e, whole = entry{Record: record, Note: note}, len(record)+len(note) > 0
	if _, readable := Decoded(record); len(record) > 0 && !readable {
		e.Record, whole = nil, false
	}
	if len(note) > maxNote {
		e.Note, whole = nil, false
	}
	return e, whole
}
