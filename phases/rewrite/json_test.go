package rewrite_test

import (
	"io"
	"strings"
	"testing"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

func turn(d rewrite.Direction, class rewrite.Class, shape, text string) (string, error) {
	out, err := io.ReadAll(rewrite.NewReader(strings.NewReader(text), d, class, shape))
	return string(out), err
}

func TestAMachineIsRewritten(t *testing.T) {
	t.Parallel()
	text := machine("m")
	got, err := turn(rewrite.ToClient, rewrite.MappedKinds, "object", text)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(text, rewrite.Private, rewrite.Standard); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	back, err := turn(rewrite.ToServer, rewrite.MappedKinds, "object", got)
	if err != nil || back != text {
		t.Errorf("%v %s", err, back)
	}
}
