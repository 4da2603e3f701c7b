package privatecrds

import (
	"fmt"
	"strings"
)

// Problem is one reason for which there is no private form of an object.
type Problem struct {
	// Object is Kind name; Path leads to the field within it, or is empty.
	Object, Path string
	Cause        string
}

func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s: %s", p.Object, p.Cause)
	}
	return fmt.Sprintf("%s: %s: %s", p.Object, p.Path, p.Cause)
}

// ProblemsError are all that is wrong, as an error.
type ProblemsError []Problem

func (p ProblemsError) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

// Terminal says that the same objects will always be refused.
func (p ProblemsError) Terminal() bool { return true }

// of names the object of problems that only know their path.
func (p ProblemsError) of(object string) ProblemsError {
	for i := range p {
		p[i].Object = object
	}
	return p
}

func wrong(path, format string, args ...any) Problem {
	return Problem{Path: path, Cause: fmt.Sprintf(format, args...)}
}
