// Command packaging writes the operator's image from its binaries and its payload, or a provider's from its binary and its profiles, with an SBOM and a provenance. It needs
// no container engine, and the same commit gives the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/capstan-capi/capstan/packaging/image"
)

// source is what an image is made of.
type source struct {
	binaries          []string
	payload, profiles string
}

func main() {
	var from source
	flag.Func("binary", "static `file` to package, built with -trimpath and -buildvcs=true (repeatable; the image starts the first)", func(file string) error {
		from.binaries = append(from.binaries, file)
		return nil
	})
	flag.StringVar(&from.payload, "payload", "", "`folder` with what the release applies; it becomes /manifests")
	flag.StringVar(&from.profiles, "profiles", "", "`folder` with the profiles of a provider, instead of a payload; it becomes /capi-operator-manifests")
	out := flag.String("o", "", "`folder` to write the OCI layout to")
	flag.Parse()
	if err := run(os.Stdout, from, *out); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, from source, out string) error {
	if (from.payload == "") == (from.profiles == "") {
		return errors.New("one of -payload and -profiles is needed")
	}
	built, err := image.Read(from.binaries)
	if err != nil {
		return err
	}
	folder, write := from.payload, image.Write
	if from.profiles != "" {
		folder, write = from.profiles, image.WriteProvider
	}
	written, err := write(folder, built, out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "image       %s, %s of %s\nsbom        %s\nprovenance  %s, not signed\n%s\n",
		out, built[0].Platform(), built[0], written.SBOM, written.Provenance, written.Image)
	return err
}
