// Command packaging writes the operator's image from its binary and its payload, with an SBOM and a provenance. It needs
// no container engine, and the same commit gives the same bytes.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/capstan-capi/capstan/packaging/image"
)

func main() {
	var source image.Source
	flag.StringVar(&source.Binary, "binary", "", "static `file` to package, built with -trimpath and -buildvcs=true")
	flag.StringVar(&source.Payload, "payload", "", "`folder` with what the release applies; it becomes /manifests")
	out := flag.String("o", "", "`folder` to write the OCI layout to")
	flag.Parse()
	if err := run(os.Stdout, source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

func run(to io.Writer, source image.Source, out string) error {
	built, err := image.Read(source.Binary)
	if err != nil {
		return err
	}
	written, err := image.Write(source, built, out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(to, "image       %s, %s of %s\nsbom        %s\nprovenance  %s, not signed\n%s\n",
		out, built.Platform(), built, written.SBOM, written.Provenance, written.Image)
	return err
}
