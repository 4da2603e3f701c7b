package faults_test

import (
	"context"
	"errors"
	"net/http"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"github.com/capstan-capi/capstan/e2e/proxy"
)

// movesOn is the word for a state that is left as without the fault, noTargets that for a target that is gone.
const (
	movesOn   word = "goes on"
	noTargets word = "no target"
)

// bootFaults are the rows of the matrix, in the order of the document.
func bootFaults() []bootFault {
	return slices.Concat(bootWriteFaults, bootWatchFaults, bootObjectFaults, bootOperatorFaults)
}

// bootMeets lets a fault meet the writes of a state's work, each of them as often, and lets go of the state; where they are to undo
// what somebody does, only after it was seen that the state comes back.
func bootMeets(count int, f proxy.Fault) func(context.Context, *bootCell) {
	return func(ctx context.Context, c *bootCell) {
		GinkgoHelper()
		var rules []*proxy.Active
		for _, write := range c.writes {
			write.Count, write.Fault = count, f
			rule := between.Add(write)
			c.later(rule.End)
			rules = append(rules, rule)
		}
		if c.disturb != nil {
			c.disturb(ctx)
		} else {
			c.letGo()
		}
		if count == 0 {
			rules = rules[:1] // nothing comes after the first
		}
		for _, rule := range rules {
			isMet(ctx, rule, max(count, 1))
		}
	}
}

// goesOn expects a fault that is over so quickly that nothing is seen of it.
func goesOn(s *bootStage) bootExpectation {
	switch {
	case s.rests:
		return bootExpectation{word: returns, more: map[string]int{"patch machinesets": 1}, again: 1, promise: anything}
	case s.disturb != nil:
		return bootExpectation{word: returns}
	}
	return bootExpectation{word: movesOn}
}

// bootLasts lets an error last until people are told that something is wrong.
func bootLasts(ctx context.Context, c *bootCell) {
	GinkgoHelper()
	c.later(func() { advance(3 * minute) }) // by then what has failed is tried again
	bootMeets(0, proxy.Answer(http.StatusInternalServerError, 0))(ctx, c)
	if c.word != movesOn {
		eventually(ctx, "the error to be told", func(ctx context.Context) error { return tellsBoot(ctx, proxyFails) })
	}
	advance(5*minute + second)
}

// bootFails expects a target to fail, and the gate to be overdue.
func bootFails(texts ...string) func(*bootStage) bootExpectation {
	return func(s *bootStage) bootExpectation {
		switch {
		case s.machine == "bootgate":
			return bootExpectation{word: configOverdue, to: configOverdue, told: append(texts, "BootImagesControllerDegraded=True")}
		case s.rests:
			return bootExpectation{
				word: hasFailed, to: hasFailed, told: append(texts, "BootImageUpdateDegraded=True", worker), more: map[string]int{"patch machinesets": 1}, again: 2, promise: anything,
			}
		case s.state == settling: // the machine goes on from what it remembers
			return bootExpectation{word: movesOn}
		}
		return bootExpectation{word: hasFailed, to: hasFailed, told: append(texts, "BootImageUpdateDegraded=True", worker), again: 1}
	}
}

var bootWriteFaults = []bootFault{
	{
		name: "409 Conflict", doc: "The API server answers a write with 409.",
		begin: bootMeets(1, proxy.Answer(http.StatusConflict, 0)),
		expect: func(s *bootStage) bootExpectation {
			e := goesOn(s)
			e.again++ // what was refused so is looked at again, and another attempt
			return e
		},
	},
	{
		name: "429 Too Many Requests", doc: "The API server asks to be left alone for a second (429 with Retry-After), twice.",
		begin: bootMeets(2, proxy.Answer(http.StatusTooManyRequests, 1)), expect: goesOn,
	},
	{
		name: "500 for five minutes", doc: "The API server answers every write of the state's work with 500, and goes on so.",
		begin: bootLasts, expect: bootFails(proxyFails),
	},
	{
		name: "connection reset before the server acts", doc: "The connection breaks twice before the API server has seen the write.",
		begin: bootMeets(2, proxy.ResetBefore), expect: goesOn,
	},
	{
		name: "connection reset after the server acted", doc: "The connection breaks after the API server has stored the write, and before it has said so.", quick: true,
		begin: bootMeets(1, proxy.ResetAfter), expect: goesOn,
	},
	{
		name: "a right taken away", doc: "The operator may no longer make the writes of the state's work.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			c.later(func() { advance(31 * second) }) // by now it is tried again every 30 s
			c.later(forbid(ctx, c.writes...))
			if c.disturb != nil {
				c.disturb(ctx)
			}
			c.letGo()
		},
		expect: func(s *bootStage) bootExpectation {
			e := bootExpectation{word: told, told: []string{"forbidden"}}
			switch {
			case s.state == settling:
				e = bootExpectation{word: movesOn}
			case s.machine == "bootgate":
				e.word, e.to = waitingForConfig, waitingForConfig
			case s.rests:
				e = bootExpectation{word: cloning, to: cloning, told: e.told, more: map[string]int{"patch machinesets": 1}, again: 1, promise: anything}
			}
			return e
		},
	},
	{
		name: "records cannot be stored", doc: "The API server answers every write to the machine's record with 500, while there is something to write.",
		begin: func(ctx context.Context, c *bootCell) {
			GinkgoHelper()
			c.later(func() { advance(31 * second) })
			rule := recordIsWritten
			if c.machine == "bootgate" {
				rule = proxy.Rule{Verb: "patch", Resource: "clusteroperators"}
			}
			rule.Fault = proxy.Answer(http.StatusInternalServerError, 0)
			c.later(between.Add(rule).End)
			if c.rests {
				c.disturb(ctx)
			}
			c.letGo()
			if c.word == movesOn {
				eventually(ctx, "the image to be written all the same", func(ctx context.Context) error { return hasImage(ctx, c.number) })
			}
		},
		expect: func(s *bootStage) bootExpectation {
			switch {
			case s.state == settling:
				return bootExpectation{never: "that is its write"}
			case s.rests:
				return bootExpectation{
					word: cloning, to: cloning, told: []string{proxyFails}, more: map[string]int{"patch machinesets": 1}, again: 1,
					promise: func(ctx context.Context) error {
						template, err := namedTemplate(ctx)
						if err == nil && template.GetName() != firstTemplate {
							err = errors.New("what is not counted was written")
						}
						return err
					},
				}
			}
			return bootExpectation{word: movesOn}
		},
	},
}
