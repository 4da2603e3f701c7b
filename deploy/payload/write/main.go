// Command write writes the payload into the folder that is named.
package main

import (
	"fmt"
	"os"

	"github.com/capstan-capi/capstan/deploy/payload"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: write DIR")
		os.Exit(2)
	}
	if err := payload.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}
