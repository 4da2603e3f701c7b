package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	corev1 "k8s.io/api/core/v1"
)

func TestListOf_refuses_too_many_objects_however_their_field_is_written(t *testing.T) {
	many := "[" + strings.Repeat("{},", itemsMost) + "{}]"
	for name, text := range map[string]string{
		"as it should be": `{"items":` + many + `}`, "otherwise": `{"ITEMS":` + many + `}`, "twice": `{"items":[],"items":` + many + `}`,
		"twice, the first": `{"Items":` + many + `,"items":[]}`,
	} {
		if err := newBounds().decode(t.Context(), []byte(text), &listOf[corev1.Node]{}); !errors.Is(err, errMany) {
			t.Errorf("%s: it says %v", name, err)
		}
	}
	for text, want := range map[string]int{`{"items":[{},{}]}`: 2, `{"items":[]}`: 0, `{"items":null}`: 0, `{}`: 0, `{"items":[{}],"items":[{},{}]}`: 2} {
		found := &listOf[corev1.Node]{}
		if err := json.Unmarshal([]byte(text), found); err != nil || len(found.Items) != want {
			t.Errorf("%s: it has %d (%v)", text, len(found.Items), err)
		}
	}
	for _, text := range []string{`{"items":{}}`, `{"items":1}`, `{"items":[{},1]}`, `{"items":[{}`} {
		if json.Unmarshal([]byte(text), &listOf[corev1.Node]{}) == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestBounds_hold_what_all_guests_answer_together(t *testing.T) {
	b := newBounds()
	read := func(ctx context.Context, size int) (got int, err error) {
		err = b.read(ctx, bytes.NewReader(make([]byte, size)), func(body []byte) { got = len(body) })
		return got, err
	}
	for _, size := range []int{0, 1, chunk - 1, chunk, chunk + 1, 3 * chunk, bodyMost} {
		if got, err := read(t.Context(), size); err != nil || got != size {
			t.Errorf("of %d bytes it has read %d (%v)", size, got, err)
		}
	}
	if _, err := read(t.Context(), bodyMost+1); !errors.Is(err, errLarge) {
		t.Errorf("of one that is too large it says %v", err)
	}
	if err := b.read(t.Context(), iotest.ErrReader(errLarge), func([]byte) { t.Error("it is done") }); err == nil {
		t.Error("a torn answer is taken")
	}
	if len(b.chunks) > 0 {
		t.Fatalf("%d chunks are held still", len(b.chunks))
	}
	for range chunksMost {
		b.chunks <- struct{}{}
	}
	over, end := context.WithCancel(t.Context())
	end()
	if _, err := read(over, 2*chunk); !errors.Is(err, context.Canceled) {
		t.Errorf("where nothing is free it says %v", err)
	}
	if got, err := read(over, chunk-1); err != nil || got != chunk-1 {
		t.Errorf("a guest that answers as guests do waits for the others: %v", err)
	}
}

func TestBounds_have_few_answers_decoded_at_the_same_time(t *testing.T) {
	b := newBounds()
	for range decodedMost {
		b.decoders <- struct{}{}
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := b.decode(over, []byte("{}"), &struct{}{}); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	<-b.decoders
	if err := b.decode(t.Context(), []byte("{}"), &struct{}{}); err != nil || len(b.decoders) != decodedMost-1 {
		t.Errorf("it says %v, and %d places are taken", err, len(b.decoders))
	}
}
