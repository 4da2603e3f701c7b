package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// quiet is how often a line is written where there is no terminal to redraw one on.
const quiet = 2 * time.Second

// display writes lines that stay and, on a terminal, one live line below them
// that is drawn over and over. Elsewhere the live line is written now and then.
type display struct {
	out      io.Writer
	width    func() int // 0 where there is no terminal
	started  time.Time
	live     string
	liveSeen time.Time
}

func newDisplay(out *os.File) *display {
	d := &display{out: out, width: func() int { return 0 }, started: time.Now()}
	if term.IsTerminal(int(out.Fd())) {
		d.width = func() int {
			width, _, err := term.GetSize(int(out.Fd()))
			if err != nil || width < 20 {
				return 80
			}
			return width
		}
	}
	return d
}

// say writes a line that stays.
func (d *display) say(format string, values ...any) {
	d.wipe()
	fmt.Fprintf(d.out, format+"\n", values...)
}

// step writes a line that stays, with the time since the display's start.
func (d *display) step(format string, values ...any) {
	d.say("%6.1fs  %s", time.Since(d.started).Seconds(), fmt.Sprintf(format, values...))
}

// now shows what is going on at this moment, on one line.
func (d *display) now(text string) {
	text = strings.Join(strings.Fields(text), " ")
	width := d.width()
	if width == 0 {
		if text != d.live && time.Since(d.liveSeen) >= quiet {
			d.step("%s", text)
			d.live, d.liveSeen = text, time.Now()
		}
		return
	}
	line := cut(fmt.Sprintf("%6.1fs  %s", time.Since(d.started).Seconds(), text), width-1)
	if line != d.live {
		fmt.Fprintf(d.out, "\r%s\x1b[K", line)
		d.live = line
	}
}

// wipe removes the live line from a terminal.
func (d *display) wipe() {
	if d.width() > 0 && d.live != "" {
		fmt.Fprint(d.out, "\r\x1b[K")
	}
	d.live = ""
}

// cut shortens a text to a number of characters and shows that it did.
func cut(text string, width int) string {
	if runes := []rune(text); len(runes) > width {
		return string(runes[:max(width-1, 0)]) + "…"
	}
	return text
}
