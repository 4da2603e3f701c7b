package records

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"

	"github.com/capstan-capi/capstan/machine"
)

const (
	// contentKey is where the records lie in a ConfigMap: a JSON object by the instances' keys, packed with gzip.
	contentKey = "records.json.gz"
	// maxPacked bounds what is stored, below what an API server takes in one object; maxUnpacked what is unpacked, against
	// content that was forged.
	maxPacked   = 900 << 10
	maxUnpacked = 64 << 20
)

// entries are the records of a shard, as JSON.
type entries map[machine.Key]json.RawMessage

func pack(all entries) ([]byte, error) {
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if err := json.NewEncoder(zip).Encode(all); err != nil {
		return nil, err
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	if packed.Len() > maxPacked {
		return nil, fmt.Errorf("%d records take %d bytes, and %d is the most; the machine needs more shards", len(all), packed.Len(), maxPacked)
	}
	return packed.Bytes(), nil
}

func unpack(packed []byte) entries {
	all := entries{}
	if zip, err := gzip.NewReader(bytes.NewReader(packed)); err != nil || json.NewDecoder(io.LimitReader(zip, maxUnpacked)).Decode(&all) != nil {
		return entries{}
	}
	return all
}
