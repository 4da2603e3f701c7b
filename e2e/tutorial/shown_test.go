package tutorial_test

import (
	"regexp"
	"strings"
)

// anything stands, in a line of the page, for what differs each time, and alone in a line for any number of lines.
const anything = "…"

// broken is where the page breaks a long line.
const broken = " \\\n  "

// joined puts lines together that the page breaks.
func joined(shown []string) []string {
	return split(strings.ReplaceAll(strings.Join(shown, "\n"), broken, " "))
}

// split is a text as lines, without the end of the last one.
func split(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// gaps are what tables are aligned by: how wide they are depends on what differs each time.
var gaps = regexp.MustCompile(` {2,}`)

// spaced is a line whose gaps are all alike.
func spaced(line string) string {
	return gaps.ReplaceAllString(strings.TrimRight(line, " "), "  ")
}

// pattern says whether a printed line is as the page shows it.
func pattern(shown string) *regexp.Regexp {
	parts := strings.Split(spaced(shown), anything)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

// comparison aligns what the page shows with what was printed, with as few differences as can be.
type comparison struct {
	shown, printed []string
	// least[i][j] is the number of lines that differ from the i-th shown and the j-th printed line on.
	least [][]int
	same  func(i, j int) bool
}

func compare(shown, printed []string) *comparison {
	c := &comparison{shown: joined(shown), printed: printed}
	patterns := make([]*regexp.Regexp, len(c.shown))
	for i, line := range c.shown {
		patterns[i] = pattern(line)
	}
	c.same = func(i, j int) bool { return patterns[i].MatchString(spaced(c.printed[j])) }
	c.least = make([][]int, len(c.shown)+1)
	for i := range c.least {
		c.least[i] = make([]int, len(printed)+1)
	}
	for i := len(c.shown); i >= 0; i-- {
		for j := len(printed); j >= 0; j-- {
			if i < len(c.shown) || j < len(printed) {
				c.least[i][j], _ = c.next(i, j)
			}
		}
	}
	return c
}

// way is how the alignment goes on.
type way int

const (
	both      way = iota // the lines are alike
	onlyShown            // the page shows a line that was not printed
	onlyPrinted
	skipped // a line is printed where the page shows any number of lines
	ended   // that is over
)

// next is the best way on, and how many lines differ from there on.
func (c *comparison) next(i, j int) (int, way) {
	best, chosen := len(c.shown)+len(c.printed)+1, both
	try := func(w way, cost, i, j int) {
		if cost += c.least[i][j]; cost < best {
			best, chosen = cost, w
		}
	}
	dots := i < len(c.shown) && c.shown[i] == anything
	if dots {
		try(ended, 0, i+1, j)
	}
	if dots && j < len(c.printed) {
		try(skipped, 0, i, j+1)
	}
	if !dots && i < len(c.shown) && j < len(c.printed) && c.same(i, j) {
		try(both, 0, i+1, j+1)
	}
	if j < len(c.printed) {
		try(onlyPrinted, 1, i, j+1)
	}
	if !dots && i < len(c.shown) {
		try(onlyShown, 1, i+1, j)
	}
	return best, chosen
}

// alike says that what was printed is what the page shows.
func (c *comparison) alike() bool { return c.least[0][0] == 0 }

// walk goes along the alignment.
func (c *comparison) walk(each func(w way, i, j int)) {
	for i, j := 0, 0; i < len(c.shown) || j < len(c.printed); {
		_, w := c.next(i, j)
		each(w, i, j)
		switch w {
		case both:
			i, j = i+1, j+1
		case onlyShown, ended:
			i++
		case onlyPrinted, skipped:
			j++
		}
	}
}

// diff shows where they differ: a line with - is on the page and was not printed, one with + the other way round.
func (c *comparison) diff() string {
	var text strings.Builder
	c.walk(func(w way, i, j int) {
		switch w {
		case both, ended:
			text.WriteString("  " + c.shown[i] + "\n")
		case onlyShown:
			text.WriteString("- " + c.shown[i] + "\n")
		case onlyPrinted:
			text.WriteString("+ " + c.printed[j] + "\n")
		}
	})
	return text.String()
}

// renewed is what the page would show instead: its own lines where they hold, and else what was printed.
func (c *comparison) renewed() []string {
	lines := []string{}
	c.walk(func(w way, i, j int) {
		switch w {
		case both, ended:
			lines = append(lines, c.shown[i])
		case onlyPrinted:
			lines = append(lines, strings.TrimRight(c.printed[j], " "))
		}
	})
	return lines
}
