// Command manifests-gen packages a provider for Capstan: it runs kustomize on
// a folder, fits the result to OpenShift and writes the two files of a profile.
// It refuses to write anything when one object cannot be fitted.
package main

import (
	"os"

	"github.com/capstan-capi/capstan/cmd/manifests-gen/packaging"
)

func main() {
	if err := packaging.Command(os.Args[1:]).Execute(); err != nil {
		os.Exit(1)
	}
}
