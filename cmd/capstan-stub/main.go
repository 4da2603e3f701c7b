// Command capstan-stub reads an Ignition config of spec 2 from its input and writes it as spec 3.1. It is a binary of its own
// because it links Ignition, which makes a binary a third larger; the operator runs it when there is a stub to upgrade. It takes
// no arguments and no environment, and reads and writes nothing else.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/capstan-capi/capstan/phases/stub"
	"github.com/capstan-capi/capstan/phases/stub/convert"
)

// refused is the exit code where the input has no equivalent in spec 3.1: then a [stub.UnconvertibleError] is written to the
// error output as JSON. Whatever else goes wrong ends with 1.
const refused = 3

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(args []string, in io.Reader, out, problems io.Writer) int {
	err := converted(args, in, out)
	var why stub.UnconvertibleError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &why):
		if err := json.NewEncoder(problems).Encode(why); err == nil {
			return refused
		}
	default:
		fmt.Fprintln(problems, "capstan-stub:", err)
	}
	return 1
}

func converted(args []string, in io.Reader, out io.Writer) error {
	if len(args) > 0 {
		return errors.New("it takes no arguments: give it an Ignition config as its input")
	}
	userData, err := io.ReadAll(io.LimitReader(in, stub.MaxBytes+1))
	if err != nil {
		return fmt.Errorf("reading the input: %w", err)
	}
	if len(userData) > stub.MaxBytes {
		return stub.UnconvertibleError{Why: fmt.Sprintf("it has more than %d bytes, and a Secret has room for no more", stub.MaxBytes)}
	}
	text, err := convert.Convert(userData)
	if err != nil {
		return err
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("writing the converted config: %w", err)
	}
	return nil
}
