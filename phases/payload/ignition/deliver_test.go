package ignition

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestDeliver_gives_the_config_or_its_stub(t *testing.T) {
	config, err := Render(Content{Files: []File{{Path: "/a", Data: []byte("a")}}})
	must(t, err)
	at := Upload{URL: "https://store.example.com/a", Authority: []byte(authority)}

	given, err := Deliver(config, BySecret, at)
	if err != nil || !bytes.Equal(given, config) {
		t.Errorf("by a Secret it is %s (%v)", given, err)
	}
	given, err = Deliver(config, ByStub, at)
	must(t, err)
	source, err := PointsAt(given)
	if err != nil || source.URL != at.URL || !strings.HasPrefix(source.Hash, "sha512-") || len(source.Authorities) != 1 {
		t.Errorf("by a stub it points at %+v (%v)", source, err)
	}
	_, err = Deliver(config, ByStub, Upload{})
	if _, waits := errors.AsType[NotUploadedError](err); !waits {
		t.Errorf("before it is uploaded it says %v", err)
	}
	if _, err := Deliver([]byte("x"), BySecret, Upload{}); err == nil {
		t.Error("what Ignition refuses is given out")
	}
}

func TestDeliver_of_a_large_config_needs_a_stub(t *testing.T) {
	large, err := Render(Content{Files: []File{{Path: "/a", Data: make([]byte, MaxBytes)}}})
	must(t, err)
	_, err = Deliver(large, BySecret, Upload{})
	if _, is := errors.AsType[TooLargeError](err); !is {
		t.Errorf("it says %v", err)
	}
	stub, err := Deliver(large, ByStub, Upload{URL: "https://store.example.com/a"})
	if err != nil || Fits(stub) != nil {
		t.Errorf("its stub has %d bytes (%v)", len(stub), err)
	}
}
