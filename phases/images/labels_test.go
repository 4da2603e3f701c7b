package images

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

func labelled(t *testing.T, labels map[string]string, layers ...[]entry) v1.Image {
	t.Helper()
	image, err := mutate.Config(imageOf(t, layers...), v1.Config{Labels: labels})
	must(t, err)
	return image
}

func TestPuller_reads_labels_without_a_layer(t *testing.T) {
	r := newRegistry(t)
	image := labelled(t, map[string]string{"io.openshift.release": "4.22.1"}, []entry{{name: "a", data: strings.Repeat("x", 1000)}})
	ref := r.push(image)
	layers, err := image.Layers()
	must(t, err)
	layer, err := layers[0].Digest()
	must(t, err)
	r.breaks("/blobs/"+layer.String(), func(http.ResponseWriter, *http.Request) { t.Error("a layer was read") })
	p := NewPuller(Options{})
	t.Cleanup(p.access.close)
	labels, err := p.Labels(t.Context(), ref)
	must(t, err)
	if labels["io.openshift.release"] != "4.22.1" {
		t.Errorf("it has %v", labels)
	}

	index := mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}})
	other := NewPuller(Options{Arch: "s390x"})
	t.Cleanup(other.access.close)
	if labels, err = other.Labels(t.Context(), r.pushIndex(index)); err != nil || labels["io.openshift.release"] != "4.22.1" {
		t.Errorf("of a list it has %v (%v)", labels, err)
	}
}

func TestPuller_refuses_a_config_that_is_not_what_was_asked_for(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		kind   Kind
	}{
		"other bytes": {`{"config":{"Labels":{"io.openshift.release":"9.9.9"}}}`, KindDigest},
		"nothing":     {"", KindDigest},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			image := labelled(t, nil)
			ref := r.push(image)
			config, err := image.ConfigName()
			must(t, err)
			r.breaks("/blobs/"+config.String(), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(c.answer)) })
			p := NewPuller(Options{})
			t.Cleanup(p.access.close)
			_, err = p.Labels(t.Context(), ref)
			if own, is := errors.AsType[*Error](err); !is || own.Kind != c.kind {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestPuller_finds_what_a_tag_stands_for(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(labelled(t, nil))
	p := NewPuller(Options{})
	t.Cleanup(p.access.close)
	found, err := p.Tagged(t.Context(), r.host+"/providers/some:pushed")
	must(t, err)
	if found != ref {
		t.Errorf("it is %s, want %s", found, ref)
	}
	moved := r.push(labelled(t, map[string]string{"a": "b"}))
	if found, err = p.Tagged(t.Context(), r.host+"/providers/some:pushed"); err != nil || found != moved {
		t.Errorf("once it has moved it is %s (%v), want %s", found, err, moved)
	}
	for name, c := range map[string]struct {
		tagged string
		access Access
		kind   Kind
		says   string
	}{
		"no tag":         {r.host + "/providers/some", Access{}, KindReference, "is not by tag"},
		"a digest":       {string(ref), Access{}, KindReference, "is not by tag"},
		"no such tag":    {r.host + "/providers/some:gone", Access{}, KindNotFound, "does not have manifest gone"},
		"not allowed":    {r.host + "/providers/some:pushed", Access{Allowed: []string{"elsewhere.example.com"}}, KindPolicy, "allowedRegistries"},
		"blocked":        {r.host + "/providers/some:pushed", Access{Blocked: []string{r.host}}, KindPolicy, "blockedRegistries"},
		"never a source": {r.host + "/providers/some:pushed", Access{Mirrors: []Mirrors{{Source: r.host, Mirrors: []string{"m.example.com"}, NeverSource: true}}}, KindPolicy, "name the image by digest"},
	} {
		t.Run(name, func(t *testing.T) {
			p.Use(c.access)
			_, err := p.Tagged(t.Context(), c.tagged)
			if own, is := errors.AsType[*Error](err); !is || own.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}
