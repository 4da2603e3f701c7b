package registry_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"go.uber.org/goleak"

	"github.com/capstan-capi/capstan/e2e/registry"
)

func start(t *testing.T) *registry.Registry {
	t.Helper()
	r, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func push(t *testing.T, r *registry.Registry) (name.Digest, v1.Hash) {
	t.Helper()
	image, err := random.Image(1024, 1)
	if err != nil {
		t.Fatal(err)
	}
	digest, err := image.Digest()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := name.NewDigest(r.Host() + "/some/image@" + digest.String())
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(reference, image); err != nil {
		t.Fatal(err)
	}
	return reference, digest
}

// pull reads an image whole, without the retries that would hide a fault.
func pull(t *testing.T, reference name.Digest) error {
	t.Helper()
	image, err := remote.Image(reference, remote.WithRetryBackoff(remote.Backoff{Steps: 1}), remote.WithRetryStatusCodes(), remote.WithContext(t.Context()))
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, layer := range layers {
		content, err := layer.Compressed()
		if err != nil {
			return err
		}
		if err := content.Close(); err != nil {
			return err
		}
	}
	return nil
}

func TestRegistry_gives_back_what_was_pushed(t *testing.T) {
	r := start(t)
	if !strings.HasPrefix(r.Host(), "127.0.0.1:") {
		t.Errorf("the registry listens on %s, want a loopback port", r.Host())
	}
	reference, _ := push(t, r)
	if err := pull(t, reference); err != nil {
		t.Error(err)
	}
}

func TestRegistry_is_unreachable_while_stopped_and_keeps_its_port_and_contents(t *testing.T) {
	r := start(t)
	host := r.Host()
	reference, _ := push(t, r)
	for range 2 { // stopping and restarting twice is as good as once
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := pull(t, reference); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("pulling from a stopped registry: got %v, want connection refused", err)
	}
	for range 2 {
		if err := r.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	if r.Host() != host {
		t.Errorf("the registry moved from %s to %s", host, r.Host())
	}
	if err := pull(t, reference); err != nil {
		t.Error(err)
	}
}

func TestRegistry_fails_as_told_until_the_fault_is_taken_away(t *testing.T) {
	r := start(t)
	reference, digest := push(t, r)
	r.SetFault(func(request *http.Request) int {
		if strings.HasSuffix(request.URL.Path, "/manifests/"+digest.String()) {
			return http.StatusServiceUnavailable
		}
		return 0
	})
	if err := pull(t, reference); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("got %v, want status 503", err)
	}
	r.SetFault(nil)
	if err := pull(t, reference); err != nil {
		t.Error(err)
	}
}

func TestRegistry_leaves_nothing_running_after_Stop(t *testing.T) {
	before := goleak.IgnoreCurrent()
	r, err := registry.Start()
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+r.Host()+"/v2/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, before)
}
