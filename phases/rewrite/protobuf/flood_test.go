package protobuf

import (
	"encoding/binary"
	"flag"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite/flood"
)

// inputs is how many inputs of each kind are made.
var inputs = flag.Int("inputs", 2000, "how `many` inputs of each kind TestEveryInput makes")

// pieces are groups, and tags and lengths of fields.
var pieces = [][]byte{
	[]byte("a"),
	[]byte("a/v1"),
	[]byte("things.a"),
	[]byte("a group of a much longer name than b"),
	magic,
	{},
	{0x00},
	{0x0a},
	{0x12},
	{0x1a, 0x02},
	{0x22},
	{0x6a},
	{0x7f},
	{0x80, 0x01},
	{0xff, 0xff, 0xff, 0xff, 0x0f},
	{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	{0x00, 0x00, 0x00, 0x04},
}

func TestEveryInput(t *testing.T) {
	t.Parallel()
	objects := objectSeeds(t)
	t.Run("as an object is what the typed codec says", func(t *testing.T) {
		t.Parallel()
		flood.Run(t, flood.Source{Seeds: objects, Words: pieces}, *inputs, func(t *testing.T, _ uint8, input []byte) { checkObject(t, input) })
	})
	t.Run("as frames of a watch is read within its bounds", func(t *testing.T) {
		t.Parallel()
		seeds := [][]byte{[]byte(frameSeed)}
		for _, object := range objects {
			seeds = append(seeds, append(binary.BigEndian.AppendUint32(nil, uint32(len(object))), object...))
		}
		flood.Run(t, flood.Source{Seeds: seeds, Words: pieces}, *inputs, func(t *testing.T, _ uint8, input []byte) { checkFrames(t, input) })
	})
}
