package main

import (
	"slices"
	"strings"
	"testing"
)

func TestUnchanged_are_parts_of_the_program_that_nobody_can_write_and_nobody_has(t *testing.T) {
	const smaps = `00400000-00402000 r--p 00000000 fe:00 9978087                            /usr/bin/capstan
Size:                  8 kB
Anonymous:             0 kB
00402000-01ef3000 r-xp 00002000 fe:00 9978087                            /usr/bin/capstan
Rss:               27588 kB
Anonymous:             0 kB
01ef3000-03b9b000 r--p 01af3000 fe:00 9978087                            /usr/bin/capstan
Anonymous:             4 kB
03b9c000-03c9a000 rw-p 0379b000 fe:00 9978087                            /usr/bin/capstan
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 fe:00 12                         /usr/lib/libc.so
Anonymous:             0 kB
7f0000002000-7f0000003000 r--p 00000000 fe:00 13                         /tmp/not/usr/bin/capstan
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:             0 kB
`
	if got, want := unchanged(strings.NewReader(smaps), "/usr/bin/capstan"), []extent{{0x400000, 0x402000}, {0x402000, 0x1ef3000}}; !slices.Equal(got, want) {
		t.Errorf("they are %x, not %x", got, want)
	}
	if got := unchanged(strings.NewReader("Anonymous: 0 kB\nabc\n"), "x"); got != nil {
		t.Errorf("of nothing they are %x", got)
	}
}

// The operator goes on with what it has let go of.
func TestLetGo_takes_nothing_that_is_needed(t *testing.T) {
	before := strings.Repeat("a", 10)
	letGo()
	if after := strings.ToUpper(before); after != "AAAAAAAAAA" {
		t.Error(after)
	}
	TestUnchanged_are_parts_of_the_program_that_nobody_can_write_and_nobody_has(t)
}
