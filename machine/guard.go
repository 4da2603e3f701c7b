package machine

import (
	"fmt"
	"slices"
	"strings"
)

// Truth is what a guard answers. The zero value is Unknown.
type Truth int

// Unknown means not enough has been seen to tell; it never moves anything.
const (
	Unknown Truth = iota
	No
	Yes
)

var truths = [...]string{"Unknown", "No", "Yes"}

func (t Truth) String() string { return truths[t] }

// MarshalText writes the word that String gives.
func (t Truth) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads Yes, No or Unknown; any other word is an error.
func (t *Truth) UnmarshalText(text []byte) error {
	i := slices.Index(truths[:], string(text))
	if i < 0 {
		return fmt.Errorf("reading the answer of a guard: %q is none of Yes, No and Unknown", text)
	}
	*t = Truth(i)
	return nil
}

// Answer is a truth and why. The reason of a No or an Unknown is the waiting
// message people see; empty means there is nothing useful to say.
type Answer struct {
	Truth  Truth
	Reason string
}

// SayYes answers that it has been seen to be so.
func SayYes(reason string) Answer { return Answer{Yes, reason} }

// SayNo answers that it has been seen not to be so.
func SayNo(reason string) Answer { return Answer{No, reason} }

// SayUnknown answers that not enough has been seen.
func SayUnknown(reason string) Answer { return Answer{Unknown, reason} }

// Say answers Yes or No.
func Say(is bool, reason string) Answer {
	if is {
		return SayYes(reason)
	}
	return SayNo(reason)
}

// Guard is a question about facts: an atom with Ask, or a combination of
// guards made by [Not], [All] and [Any]. It has no context, client or clock.
type Guard[F any] struct {
	Name string
	Doc  string
	Ask  func(F) Answer

	combine combination
	parts   []Guard[F]
}

type combination int

const (
	atom combination = iota
	notOf
	allOf
	anyOf
)

// Not is Yes where g is No and the other way round; Unknown stays Unknown.
func Not[F any](g Guard[F]) Guard[F] {
	return Guard[F]{Name: "not " + g.Name, combine: notOf, parts: []Guard[F]{g}}
}

// All is No as soon as one part is No, else Unknown as soon as one is Unknown.
func All[F any](parts ...Guard[F]) Guard[F] {
	return Guard[F]{Name: joinNames(parts, " and "), combine: allOf, parts: parts}
}

// Any is Yes as soon as one part is Yes, else Unknown as soon as one is Unknown.
func Any[F any](parts ...Guard[F]) Guard[F] {
	return Guard[F]{Name: joinNames(parts, " or "), combine: anyOf, parts: parts}
}

// Answer asks the guard. The reason is that of the part that decided; where all
// parts have to say Yes, that of the first one that does not.
func (g Guard[F]) Answer(facts F) Answer {
	switch g.combine {
	case notOf:
		answer := g.parts[0].Answer(facts)
		switch answer.Truth {
		case Yes:
			return SayNo("")
		case No:
			return SayYes(answer.Reason)
		}
		return answer
	case allOf:
		return every(g.parts, facts)
	case anyOf:
		return some(g.parts, facts)
	}
	return g.Ask(facts)
}

// every answers for parts that have to say Yes together. They stand in the order
// in which things come about, so that the first that does not say Yes is what is
// waited for, whichever decides.
func every[F any](parts []Guard[F], facts F) Answer {
	answer, reasons := Answer{Truth: Yes}, []string{}
	for _, part := range parts {
		one := part.Answer(facts)
		if one.Truth != Yes && answer.Truth == Yes {
			answer = one
		}
		if one.Truth == No {
			return SayNo(answer.Reason)
		}
		if one.Reason != "" {
			reasons = append(reasons, one.Reason)
		}
	}
	if answer.Truth == Yes {
		answer.Reason = strings.Join(reasons, "; ")
	}
	return answer
}

// some answers for parts of which one has to say Yes, with the first Yes or else
// the first Unknown; where all say No their reasons add up.
func some[F any](parts []Guard[F], facts F) Answer {
	answer, reasons := Answer{Truth: No}, []string{}
	for _, part := range parts {
		one := part.Answer(facts)
		switch {
		case one.Truth == Yes:
			return one
		case one.Truth == Unknown && answer.Truth == No:
			answer = one
		case one.Reason != "":
			reasons = append(reasons, one.Reason)
		}
	}
	if answer.Truth == No {
		answer.Reason = strings.Join(reasons, "; ")
	}
	return answer
}

// reasons returns what the atoms say that made the answer what it is. It explains
// a guard that is not Yes and has no reason of its own, because everything that
// was seen is as it should be.
func (g Guard[F]) reasons(facts F) string {
	var reasons []string
	for _, atom := range g.grounds(facts) {
		if why := atom.Answer(facts).Reason; why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return strings.Join(reasons, "; ")
}

// grounds are the atoms that made the answer what it is: where parts have to say
// Yes together and do not, those that say Yes are none of them.
func (g Guard[F]) grounds(facts F) []Guard[F] {
	switch g.combine {
	case atom:
		return g.Atoms()
	case notOf: // what makes the answer of its part makes its own
		return g.parts[0].grounds(facts)
	}
	is := g.Answer(facts).Truth == Yes
	var grounds []Guard[F]
	for _, part := range g.parts {
		if is == (part.Answer(facts).Truth == Yes) {
			grounds = append(grounds, part.grounds(facts)...)
		}
	}
	return grounds
}

// Atoms returns the questions at the leaves, each once, in order of first use.
func (g Guard[F]) Atoms() []Guard[F] {
	if g.combine == atom {
		if g.Ask == nil {
			return nil
		}
		return []Guard[F]{g}
	}
	var atoms []Guard[F]
	for _, part := range g.parts {
		for _, a := range part.Atoms() {
			atoms = addAtom(atoms, a)
		}
	}
	return atoms
}

// addAtom adds an atom that is not among the others: there are few.
func addAtom[F any](atoms []Guard[F], one Guard[F]) []Guard[F] {
	if slices.ContainsFunc(atoms, func(a Guard[F]) bool { return a.Name == one.Name }) {
		return atoms
	}
	return append(atoms, one)
}

// WithAnswers returns the same guard with its atoms answering from a map instead
// of the facts; atoms that are not in the map are Unknown. Tests use it to walk
// through every assignment.
func (g Guard[F]) WithAnswers(answers map[string]Truth) Guard[F] {
	return g.answeredBy(func(name string) Answer {
		return Answer{answers[name], name + " is " + answers[name].String()}
	})
}

// answeredBy returns the same guard with its atoms answered by name.
func (g Guard[F]) answeredBy(answer func(name string) Answer) Guard[F] {
	if g.combine == atom {
		if g.Ask != nil {
			g.Ask = func(F) Answer { return answer(g.Name) }
		}
		return g
	}
	parts := make([]Guard[F], len(g.parts))
	for i, part := range g.parts {
		parts[i] = part.answeredBy(answer)
	}
	g.parts = parts
	return g
}

// Asked reports whether there is a question at all.
func (g Guard[F]) Asked() bool { return g.Ask != nil || g.combine != atom }

func joinNames[F any](parts []Guard[F], with string) string {
	names := make([]string, len(parts))
	for i, part := range parts {
		names[i] = part.Name
		if (part.combine == allOf || part.combine == anyOf) && len(parts) > 1 {
			names[i] = "(" + part.Name + ")"
		}
	}
	return strings.Join(names, with)
}
