package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// extent is from where to where a part of the program lies in memory.
type extent struct{ from, to uintptr }

// startPages lets go of the program's own pages when it has started. Nearly all are read while its packages make themselves ready,
// and a third never again; they would count as resident as long as the process lives. Those that are needed again come back from the
// kernel's cache of files, a few dozen microseconds for each 64 KiB.
type startPages struct{}

// Start is called when the caches are filled and the replica has the Lease: then all is there that makes the controllers.
func (startPages) Start(context.Context) error {
	letGo()
	return nil
}

// unchanged are the parts of a process's memory that are those of its program's file, and can be read from it again: nobody may write
// to them, and nobody has, as a loader does that moves a program elsewhere. smaps is what the kernel tells of a process's memory, see
// proc_pid_smaps(5).
func unchanged(smaps io.Reader, program string) []extent {
	var all []extent
	var part extent
	reads := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		var next extent
		switch _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &next.from, &next.to); {
		case err == nil && len(fields) > 1:
			part, reads = next, strings.HasPrefix(fields[1], "r-") && strings.HasSuffix(lines.Text(), " "+program)
		case reads && len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0":
			all = append(all, part)
		}
	}
	return all
}
