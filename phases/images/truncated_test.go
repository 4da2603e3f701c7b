package images

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
)

// A layer that was truncated before it was pushed matches its digest: the image is wrong, not the registry.
func TestPuller_refuses_an_image_that_was_made_of_a_truncated_layer_until_there_is_another(t *testing.T) {
	r := newRegistry(t)
	// What can hardly be compressed, so that half of the layer is more than its headers.
	var noise strings.Builder
	for i := range 20_000 {
		noise.WriteByte("0123456789abcdef"[(i*i/7+i/3)%16])
	}
	content := layerTar(t, profileAt(root+"/a", noise.String()))
	var zipped, packed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(content)
	must(t, err)
	must(t, z.Close())
	zs, err := zstd.NewWriter(&packed)
	must(t, err)
	_, err = zs.Write(content)
	must(t, err)
	must(t, zs.Close())
	oci := mutate.MediaType(empty.Image, types.OCIManifestSchema1)
	good := r.push(imageOf(t, profileAt(root+"/a", "a")))
	for _, c := range []struct {
		name  string
		layer []byte
		media types.MediaType
	}{
		{"gzip", zipped.Bytes(), types.OCILayer},
		{"zstd", packed.Bytes(), types.OCILayerZStd},
		{"plain", content, types.OCIUncompressedLayer},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := static.NewLayer(layerTar(t, []entry{{name: "etc/os-release", data: "x"}}), types.OCIUncompressedLayer)
			ref := r.push(appended(t, oci, first, static.NewLayer(c.layer[:len(c.layer)/2], c.media)))
			p := runPuller(t, Options{})
			p.Want([]Ref{ref})
			s, err := p.failed(ref)
			if err.Kind != KindContent || !err.Terminal() || !s.NextTry.IsZero() {
				t.Errorf("got a %s error, terminal %t, next try %s", err.Kind, err.Terminal(), s.NextTry)
			}
			contains(t, err, string(ref), "layer 2 is not a tar archive that can be read", "unexpected EOF", "rebuild the image")
			p.Want([]Ref{good})
			p.ready(good)
		})
	}
}
