package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
)

// follow looks at once and then every so often until ctx ends. On a terminal it draws over what it drew before; into a file or
// a pipe, and as JSON, it prints a line whenever something has changed.
func follow(ctx context.Context, out io.Writer, output string, every time.Duration, look func(context.Context) (inspect.Status, error)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	by := inspect.Follow{Look: look, Now: time.Now, Tick: ticker.C, Show: &inspect.Lines{Out: out, JSON: output == "json"}}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) && output == "text" {
		by.Show = &inspect.Screen{Out: out, Size: func() (int, int) {
			columns, rows, err := term.GetSize(int(file.Fd()))
			if err != nil {
				return 80, 24
			}
			return columns, rows
		}}
		fmt.Fprint(out, "\x1b[2J")
		defer fmt.Fprintln(out)
	}
	return by.Run(ctx)
}
