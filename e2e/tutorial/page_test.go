package tutorial_test

import (
	"fmt"
	"regexp"
	"strings"
)

// step is one thing that the page has its reader do.
type step struct {
	// line is where on the page it begins, from 1.
	line int
	// path and content are those of a file to write; empty for a command.
	path, content string
	// command is what is typed; for the first terminal it is what goes on running, or ^C.
	command string
	// first says that it is for the first terminal.
	first bool
	// shown are the lines that the page shows below it, and from where to where they are, from 0.
	shown    []string
	from, to int
}

// What begins the blocks of the page, and lines in them.
const (
	fence    = "```"
	consoles = fence + "console"
	firsts   = consoles + " first"
	yamls    = fence + "yaml"
	prompt   = "$ "
	more     = "> "
	ctrlC    = "^C"
)

// written is the file that the line before a block has its content written to.
var written = regexp.MustCompile("`(bin/tutorial/[^`]+)`:$")

// read takes the page apart. There is no block that it passes over.
func read(lines []string) ([]step, error) {
	var steps []step
	before := ""
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], fence) {
			if lines[i] != "" {
				before = lines[i]
			}
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != fence {
			end++
		}
		if end == len(lines) {
			return nil, fmt.Errorf("line %d: the block has no end", i+1)
		}
		found, err := block(lines, i, end, before)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		steps = append(steps, found...)
		i, before = end, ""
	}
	return steps, nil
}

// block is what one of them has a reader do: its fences are at lines start and end.
func block(lines []string, start, end int, before string) ([]step, error) {
	switch lines[start] {
	case yamls:
		named := written.FindStringSubmatch(before)
		if named == nil {
			return nil, fmt.Errorf("the line before it does not end with `bin/tutorial/...`: and so names no file")
		}
		return []step{{line: start + 1, path: named[1], content: strings.Join(lines[start+1:end], "\n") + "\n"}}, nil
	case consoles, firsts:
		return typed(lines, start, end)
	}
	return nil, fmt.Errorf("a block that begins with %s is neither run nor written", lines[start])
}

// typed are the commands of a block.
func typed(lines []string, start, end int) ([]step, error) {
	first := lines[start] == firsts
	var steps []step
	for i := start + 1; i < end; {
		command, is := strings.CutPrefix(lines[i], prompt)
		switch {
		case is:
		case first && lines[i] == ctrlC:
		default:
			return nil, fmt.Errorf("line %d of the page is shown by no command", i+1)
		}
		s := step{line: i + 1, command: command, first: first}
		for i++; i < end && strings.HasPrefix(lines[i], more); i++ {
			s.command += "\n" + lines[i][len(more):]
		}
		s.from = i
		for i < end && !strings.HasPrefix(lines[i], prompt) {
			i++
		}
		s.to = i
		s.shown = lines[s.from:s.to]
		steps = append(steps, s)
	}
	return steps, nil
}
