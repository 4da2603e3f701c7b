package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// findings are the vulnerabilities of what was looked at, by their name.
type findings map[string]*finding

type finding struct {
	summary string
	// called is how the code comes to it, the vulnerable function first; empty if it only requires the module.
	called []string
	module string
	fixed  string
}

// message is a line of govulncheck's JSON, as far as it matters here.
type message struct {
	OSV *struct {
		ID      string
		Summary string
	}
	Finding *struct {
		OSV   string
		Fixed string `json:"fixed_version"`
		Trace []struct {
			Module, Version, Package, Receiver, Function string
		}
	}
}

func (f findings) at(id string) *finding {
	if f[id] == nil {
		f[id] = &finding{}
	}
	return f[id]
}

// read adds what govulncheck tells. An entry of the database that nothing is found of stays out.
func (f findings) read(r io.Reader) error {
	summaries := map[string]string{}
	decoder := json.NewDecoder(r)
	for {
		var m message
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("reading what govulncheck tells: %w", err)
		}
		if m.OSV != nil {
			summaries[m.OSV.ID] = m.OSV.Summary
		}
		if m.Finding == nil || len(m.Finding.Trace) == 0 {
			continue
		}
		one, first := f.at(m.Finding.OSV), m.Finding.Trace[0]
		one.module, one.fixed = first.Module+"@"+first.Version, m.Finding.Fixed
		if first.Function == "" || one.called != nil {
			continue
		}
		for _, frame := range m.Finding.Trace {
			name := frame.Function
			if frame.Receiver != "" {
				name = strings.TrimPrefix(frame.Receiver, "*") + "." + name
			}
			one.called = append(one.called, frame.Package+"."+name)
		}
	}
	for id, one := range f {
		if summaries[id] != "" {
			one.summary = summaries[id]
		}
	}
	return nil
}

// judge tells of every finding, and fails for one that is called and not excepted. Its last line is the verdict.
func judge(out io.Writer, found findings, allowed map[string]exception, now time.Time) error {
	bad, called := 0, 0
	for _, id := range slices.Sorted(maps.Keys(found)) {
		one := found[id]
		if one.called == nil {
			fmt.Fprintf(out, "%s in %s is not called\n", id, one.module)
			continue
		}
		called++
		e, excepted := allowed[id]
		if excepted && now.Before(e.until) {
			fmt.Fprintf(out, "%s in %s is called, and let through until %s: %s\n", id, one.module, e.until.Format(time.DateOnly), e.reason)
			continue
		}
		bad++
		remedy := "no version of it has a fix"
		if one.fixed != "" {
			remedy = "raise it to " + one.fixed
		}
		if excepted {
			remedy += "; its exception ended on " + e.until.Format(time.DateOnly)
		}
		fmt.Fprintf(out, "%s in %s is CALLED: %s\n  %s\n  %s\n", id, one.module, one.summary, strings.Join(one.called, "\n  from "), remedy)
	}
	for _, id := range slices.Sorted(maps.Keys(allowed)) {
		if found[id] == nil || found[id].called == nil {
			fmt.Fprintf(out, "the exception for %s is not needed: take it out\n", id)
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d vulnerabilities are called and not excepted", bad)
	}
	fmt.Fprintf(out, "checked: %d vulnerabilities in what is required, %d called, each with an exception\n", len(found), called)
	return nil
}
