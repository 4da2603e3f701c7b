package crdschema

import (
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// NotTerminating is the match condition that leaves out what is being deleted. One that errs refuses the request, so that it
// takes no field for granted.
const NotTerminating = "oldObject == null || !has(oldObject.metadata) || !has(oldObject.metadata.deletionTimestamp)"

// Skipping is a match condition of a requirement as it stands in webhooks: it begins with ours, so that it costs nothing for what
// is terminating. A comment at the end of theirs must not take the bracket with it.
func Skipping(theirs string) string { return "(" + NotTerminating + ") && (\n" + theirs + "\n)" }

// manyChecks is where counting ends: no API server allows as many.
const manyChecks = 1 << 20

// ChecksIn is how often a CEL expression may ask the authorizer. A loop over anything but a literal counts once: how long that is
// says the object. What cannot be read asks nothing.
func ChecksIn(expression string) int {
	parsed, problems := celParser().Parse(common.NewTextSource(expression))
	if len(problems.GetErrors()) > 0 {
		return 0
	}
	return checks(parsed.Expr())
}

func checks(e ast.Expr) (n int) {
	switch e.Kind() {
	case ast.CallKind:
		call := e.AsCall()
		if call.FunctionName() == operators.Conditional && len(call.Args()) == 3 {
			return min(manyChecks, checks(call.Args()[0])+max(checks(call.Args()[1]), checks(call.Args()[2])))
		}
		if call.IsMemberFunction() {
			n += checks(call.Target())
			if call.FunctionName() == "check" {
				n++
			}
		}
		n += checksOf(call.Args())
	case ast.ListKind:
		n = checksOf(e.AsList().Elements())
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			n += checks(entry.AsMapEntry().Key()) + checks(entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			n += checks(field.AsStructField().Value())
		}
	case ast.SelectKind:
		n = checks(e.AsSelect().Operand())
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		each := checks(c.LoopCondition()) + checks(c.LoopStep())
		n = checks(c.IterRange()) + checks(c.AccuInit()) + passes(c.IterRange())*each + checks(c.Result())
	}
	return min(manyChecks, n)
}

func checksOf(all []ast.Expr) (n int) {
	for _, e := range all {
		n = min(manyChecks, n+checks(e))
	}
	return n
}

// passes is how many a loop makes.
func passes(over ast.Expr) int {
	switch over.Kind() {
	case ast.ListKind:
		return over.AsList().Size()
	case ast.MapKind:
		return over.AsMap().Size()
	}
	return 1
}
