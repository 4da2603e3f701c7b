package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/capstan-capi/capstan/e2e/harness"
)

// passage is how long clusters stood in a state, in seconds, and how long after they were asked for the first and the last left it.
type passage struct {
	state       string
	seconds     []float64
	first, last time.Duration
}

// passages says where the time of an installation goes, by what each control plane has noted of its moves.
func (g *guests) passages(ctx context.Context, began time.Time) (string, error) {
	var all []*passage
	for _, asked := range g.asked {
		s, err := g.Standing(ctx, asked.Key)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(s.Object.Object["status"])
		if err != nil {
			return "", fmt.Errorf("reading the status of %s: %w", asked.Key, err)
		}
		var status struct {
			Machine struct {
				Transitions []harness.Transition `json:"transitions"`
			} `json:"machine"`
		}
		if err := json.Unmarshal(text, &status); err != nil {
			return "", fmt.Errorf("reading the moves of %s: %w", asked.Key, err)
		}
		for _, t := range status.Machine.Transitions {
			all = noted(all, t, t.At.Sub(began))
		}
	}
	var told []string
	for _, p := range all {
		slices.Sort(p.seconds)
		told = append(told, fmt.Sprintf("%s %.1f s to %.1f s, left after %.0f to %.0f s",
			p.state, p.seconds[0], p.seconds[len(p.seconds)-1], p.first.Seconds(), p.last.Seconds()))
	}
	return strings.Join(told, "; "), nil
}

// noted are passages with one more.
func noted(all []*passage, t harness.Transition, after time.Duration) []*passage {
	at := slices.IndexFunc(all, func(p *passage) bool { return p.state == t.From })
	if at < 0 {
		return append(all, &passage{state: t.From, seconds: []float64{t.Seconds}, first: after, last: after})
	}
	p := all[at]
	p.seconds = append(p.seconds, t.Seconds)
	p.first, p.last = min(p.first, after), max(p.last, after)
	return all
}
