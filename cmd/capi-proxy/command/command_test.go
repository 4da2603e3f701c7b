package command_test

import (
	"context"
	"testing"

	"github.com/capstan-capi/capstan/cmd/capi-proxy/command"
)

func TestArguments_say_again_what_was_asked_for(t *testing.T) {
	for _, asked := range [][]string{nil, {"--kubeconfig", "a b", "--address=[::1]:0"}, {"--health-address", "0", "--write-kubeconfig=/a/b"}} {
		var first, again command.Flags
		for _, turn := range []struct {
			arguments func() []string
			into      *command.Flags
		}{{func() []string { return asked }, &first}, {first.Arguments, &again}} {
			cmd := command.New(func(_ context.Context, f *command.Flags) error {
				*turn.into = *f
				return nil
			})
			cmd.SetArgs(append([]string{}, turn.arguments()...))
			if err := cmd.ExecuteContext(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if first != again || first.Address == "" {
			t.Errorf("%q was understood as %+v, and then as %+v", asked, first, again)
		}
	}
}
