package protobuf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/framer"
)

// watched is a stream of events about the objects.
func watched(t *testing.T, objects ...runtime.Object) []byte {
	t.Helper()
	var out bytes.Buffer
	frames := framer.NewLengthDelimitedFrameWriter(&out)
	for _, object := range objects {
		raw := encoded(t, object.GetObjectKind().GroupVersionKind(), object)
		event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: raw}}).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := frames.Write(event); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func ownedPod(owner string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", OwnerReferences: []metav1.OwnerReference{{APIVersion: owner, Kind: "Thing"}}},
	}
}

func freely(int) (func(), error) { return func() {}, nil }

func TestWatchFrames_translates_the_object_of_each_event(t *testing.T) {
	var got bytes.Buffer
	long := strings.TrimSuffix(swap().GroupVersion("a/v1"), "/v1")
	if err := WatchFrames(&got, bytes.NewReader(watched(t, ownedPod("a/v1"), ownedPod("b/v1"))), swap(), freely); err != nil {
		t.Fatal(err)
	}
	if want := watched(t, ownedPod(long+"/v1"), ownedPod("b/v1")); !bytes.Equal(got.Bytes(), want) {
		t.Fatalf("got %q, want %q", got.Bytes(), want)
	}
}

func TestWatchFrames_breaks_off_where_the_stream_does(t *testing.T) {
	stream := watched(t, ownedPod("a/v1"), ownedPod("a/v1"))
	first := len(watched(t, ownedPod("a/v1")))
	for length := range stream {
		var got bytes.Buffer
		err := WatchFrames(&got, bytes.NewReader(stream[:length]), swap(), freely)
		if whole := length == 0 || length == first; whole != (err == nil) {
			t.Fatalf("%d bytes: %v", length, err)
		}
		var wrong *MalformedError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%d bytes: %v", length, err)
		}
		err = WatchFrames(&got, io.MultiReader(bytes.NewReader(stream[:length]), iotest.ErrReader(io.ErrUnexpectedEOF)), swap(), freely)
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("a connection that is lost after %d bytes: %v", length, err)
		}
	}
}

func TestWatchFrames_refuses_what_it_has_no_room_for(t *testing.T) {
	full := errors.New("full")
	err := WatchFrames(io.Discard, bytes.NewReader(watched(t, ownedPod("a/v1"))), swap(), func(int) (func(), error) { return nil, full })
	if !errors.Is(err, full) {
		t.Fatal(err)
	}
	var wrong *MalformedError
	err = WatchFrames(io.Discard, bytes.NewReader(binary.BigEndian.AppendUint32(nil, 1<<31)), swap(), freely)
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
}
