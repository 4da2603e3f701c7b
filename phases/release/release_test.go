package release

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"pgregory.net/rapid"

	"github.com/capstan-capi/capstan/phases/images"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// push puts an image with labels into a registry, under a tag, and returns its digest.
func push(t *testing.T, host, tag string, labels map[string]string) string {
	t.Helper()
	image, err := mutate.Config(empty.Image, v1.Config{Labels: labels})
	must(t, err)
	// An image without layers is none.
	image, err = mutate.Append(image, mutate.Addendum{Layer: static.NewLayer([]byte("x"), types.DockerLayer)})
	must(t, err)
	to, err := name.NewTag(host + "/release:" + tag)
	must(t, err)
	must(t, remote.Write(to, image))
	digest, err := image.Digest()
	must(t, err)
	return host + "/release@" + digest.String()
}

func TestResolve_reads_the_version_of_a_release(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	puller := images.NewPuller(images.Options{})
	puller.Use(images.Access{Blocked: []string{"nowhere.example.com"}})

	byDigest := push(t, host, "4.22.1", map[string]string{Label: "4.22.1"})
	for reference, policy := range map[string]Policy{byDigest: Digest, host + "/release:4.22.1": Tag} {
		got, err := Resolve(t.Context(), puller, reference, policy)
		must(t, err)
		if string(got.Image) != byDigest || got.Version != "4.22.1" {
			t.Errorf("%s is %+v", reference, got)
		}
	}

	for name, c := range map[string]struct {
		reference string
		policy    Policy
		says      string
	}{
		"by tag, which is not allowed": {host + "/release:4.22.1", Digest, "is by tag (4.22.1), which may name another image tomorrow"},
		"no such tag":                  {host + "/release:gone", Tag, "does not have manifest gone"},
		"a part of a release":          {push(t, host, "part", nil), Digest, "it has no label io.openshift.release; name the image of a release"},
		"a strange version":            {push(t, host, "odd", map[string]string{Label: "hunter2"}), Digest, "its label io.openshift.release is no version"},
		"gone":                         {host + "/release@sha256:" + strings.Repeat("0", 64), Digest, "reading the version of release image " + host},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Resolve(t.Context(), puller, c.reference, c.policy)
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "provider") {
				t.Errorf("it says %v, want %q", err, c.says)
			}
		})
	}
}

func TestMay_goes_forward_by_one_minor_release(t *testing.T) {
	stuck := Upgradeable{False: true, Why: "objects of an old version"}
	for _, c := range []struct {
		from, to string
		u        Upgradeable
		says     string
	}{
		{"4.22.1", "4.22.1", stuck, ""},
		{"4.22.1", "4.22.9", stuck, ""},
		{"4.22.1", "4.23.0", Upgradeable{}, ""},
		{"4.22.1", "4.23.0-rc.1", Upgradeable{}, ""},
		{"4.22.0-rc.1", "4.22.0", Upgradeable{}, ""},
		{"4.22.1", "4.23.0", stuck, "Upgradeable False (objects of an old version); do what that asks for, or stay within 4.22"},
		{"4.22.1", "4.24.0", Upgradeable{}, "set spec.releaseImage to a release of 4.23 first"},
		{"4.22.1", "5.0.0", Upgradeable{}, "set spec.releaseImage to a release of 4.23 first"},
		{"4.22.1", "4.22.0", Upgradeable{}, "a cluster never goes back"},
		{"4.22.0", "4.22.0-rc.1", Upgradeable{}, "a cluster never goes back"},
		{"4.22.1", "4.21.9", Upgradeable{}, "a cluster never goes back"},
		{"", "4.22.1", Upgradeable{}, "the version it has cannot be compared"},
		{"4.22.1", "latest", Upgradeable{}, "the version asked for cannot be compared"},
	} {
		err := May(c.from, c.to, c.u)
		refused, is := errors.AsType[RefusedError](err)
		if c.says == "" && err != nil || c.says != "" && (!is || refused.Terminal() || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("from %q to %q it says %v, want %q", c.from, c.to, err, c.says)
		}
	}
}

func TestMay_never_lets_a_cluster_go_and_come_back(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) string {
			number := rapid.IntRange(0, 3)
			pre := rapid.SampledFrom([]string{"", "-rc.0", "-rc.1", "-ec.2"}).Draw(t, "pre")
			return fmt.Sprintf("4.%d.%d%s", number.Draw(t, label), number.Draw(t, label), pre)
		}
		a, b := draw("a"), draw("b")
		if a != b && May(a, b, Upgradeable{}) == nil && May(b, a, Upgradeable{}) == nil {
			t.Fatalf("from %s to %s, and back", a, b)
		}
	})
}
