package proxy

import (
	"math/rand/v2"
	"sync"
)

// Rule lets a fault meet some requests. Empty fields match anything.
type Rule struct {
	// Verb is a request's, or write for whatever Request.IsWrite says yes to.
	Verb, Resource, Name string
	// Count is how many requests the fault meets before the rule is spent, 0 for all.
	Count int
	// Probability is how likely a matching request meets the fault, 0 for always.
	Probability float64
	Fault       Fault
}

func (r Rule) matches(request Request) bool {
	switch {
	case r.Verb == "write" && !request.IsWrite(),
		r.Verb != "" && r.Verb != "write" && r.Verb != request.Verb,
		r.Resource != "" && r.Resource != request.Resource,
		r.Name != "" && r.Name != request.Name:
		return false
	}
	return r.Probability == 0 || rand.Float64() < r.Probability //nolint:gosec // Nothing depends on its being unpredictable.
}

// Active is a rule that holds.
type Active struct {
	rule  Rule
	proxy *Proxy
	ended chan struct{}
	once  sync.Once
	hits  int // guarded by the proxy's lock
}

// Hits is how many requests have met the fault.
func (a *Active) Hits() int {
	a.proxy.mu.Lock()
	defer a.proxy.mu.Unlock()
	return a.hits
}

// End takes the rule away; requests that it holds go on, or end.
func (a *Active) End() {
	a.once.Do(func() { close(a.ended) })
}

func (a *Active) over() bool {
	select {
	case <-a.ended:
		return true
	default:
		return a.rule.Count > 0 && a.hits >= a.rule.Count
	}
}

// Add lets a rule hold from now on. Of several that match the first one counts.
func (p *Proxy) Add(rule Rule) *Active {
	p.mu.Lock()
	defer p.mu.Unlock()
	active := &Active{rule: rule, proxy: p, ended: make(chan struct{})}
	p.rules = append(p.rules, active)
	return active
}

// Clear ends all rules.
func (p *Proxy) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, active := range p.rules {
		active.End()
	}
	p.rules = nil
}

// meets is the rule that a request meets, nil for none.
func (p *Proxy) meets(request Request) *Active {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, active := range p.rules {
		if !active.over() && active.rule.matches(request) {
			active.hits++
			return active
		}
	}
	return nil
}
