package crdschema

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"sync"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// MaxRegexps is how many instructions all regular expressions may have once they are compiled, each with 140 bytes at most: three
// of them may stand for a thousand, and what validates objects keeps each one as long as the process lives. Of the
// definitions that are known OpenShift's Ingress has most, 48,000.
const (
	MaxRegexps = 500_000
	// maxCompiled is how many there may be with those that are there more than once: a library compiles each anew, and keeps one.
	maxCompiled = 10 * MaxRegexps
	// maxRegexp is how many bytes one may have: a few bytes may stand for a class of thousands of characters.
	maxRegexp = 16 << 10
)

// regexps are regular expressions: how many instructions they have if each counts once, and what they are compiled to.
type regexps struct {
	seen                   map[string]int
	instructions, compiled int
}

func (r *regexps) beyond() bool { return r.instructions > MaxRegexps || r.compiled > maxCompiled }

// add counts one. The error is that it is none.
func (r *regexps) add(expression string) error {
	if n, known := r.seen[expression]; known {
		r.compiled += n
		return nil
	}
	if len(expression) > maxRegexp {
		r.instructions += MaxRegexps + 1
		return nil
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return fmt.Errorf("must be a regular expression: %w", err)
	}
	if r.seen == nil {
		r.seen = map[string]int{}
	}
	n := instructions(parsed)
	r.seen[expression] = n
	r.instructions += n
	r.compiled += n
	return nil
}

// instructions is about how many a regular expression is compiled to, with what repeats stand for.
func instructions(expression *syntax.Regexp) int {
	inner := 0
	for _, sub := range expression.Sub {
		inner += instructions(sub)
	}
	switch expression.Op {
	case syntax.OpLiteral:
		return len(expression.Rune)
	case syntax.OpCharClass:
		return 1 + len(expression.Rune)/8
	case syntax.OpRepeat:
		return (inner + 1) * max(expression.Max, expression.Min+1)
	}
	return inner + 1 + len(expression.Sub)
}

// RegexpsIn is how many instructions the regular expressions come to that a CEL expression may have.
func RegexpsIn(expression string) int {
	var r regexps
	r.addCEL(expression)
	return r.instructions
}

// celParser takes all that any API server takes.
var celParser = sync.OnceValue(func() *parser.Parser {
	made, err := parser.NewParser(parser.Macros(parser.AllMacros...), parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true))
	if err != nil {
		panic(fmt.Errorf("making a parser of CEL: %w", err))
	}
	return made
})

// addCEL counts each literal of an expression that asks for regular expressions, as if it were one. What cannot be read has none.
func (r *regexps) addCEL(expression string) {
	if !strings.Contains(expression, "matches") && !strings.Contains(expression, "find") {
		return
	}
	parsed, problems := celParser().Parse(common.NewTextSource(expression))
	if len(problems.GetErrors()) == 0 {
		r.literal(r.walk(parsed.Expr()))
	}
}

// walk gives the parts of a text that is literal as a whole, and counts all others in an expression.
func (r *regexps) walk(e ast.Expr) []string {
	switch e.Kind() {
	case ast.LiteralKind:
		if text, is := e.AsLiteral().(types.String); is {
			return []string{string(text)}
		}
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() == operators.Add && len(call.Args()) == 2 {
			left, right := r.walk(call.Args()[0]), r.walk(call.Args()[1])
			if left != nil && right != nil {
				return append(left, right...)
			}
			r.literal(left)
			r.literal(right)
			return nil
		}
		if call.IsMemberFunction() {
			r.literal(r.walk(call.Target()))
		}
		r.each(call.Args())
	case ast.ListKind:
		r.each(e.AsList().Elements())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			r.each([]ast.Expr{entry.AsMapEntry().Key(), entry.AsMapEntry().Value()})
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			r.literal(r.walk(field.AsStructField().Value()))
		}
	case ast.SelectKind:
		r.literal(r.walk(e.AsSelect().Operand()))
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		r.each([]ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()})
	}
	return nil
}

func (r *regexps) each(all []ast.Expr) {
	for _, e := range all {
		r.literal(r.walk(e))
	}
}

// literal counts a text. One that is no regular expression is never compiled to one.
func (r *regexps) literal(parts []string) {
	if parts != nil {
		_ = r.add(strings.Join(parts, ""))
	}
}
