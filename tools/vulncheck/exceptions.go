package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"
)

// exception lets a vulnerability through for a time.
type exception struct {
	until  time.Time
	reason string
}

var named = regexp.MustCompile(`^GO-[0-9]+-[0-9]+$`)

// readExceptions reads a file of lines such as "GO-2026-1234 2027-03-01 why it does no harm here"; # begins a comment.
func readExceptions(path string) (map[string]exception, error) {
	all := map[string]exception{}
	if path == "" {
		return all, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the exceptions: %w", err)
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, rest, _ := strings.Cut(line, " ")
		date, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		until, err := time.Parse(time.DateOnly, date)
		reason = strings.TrimSpace(reason)
		if !named.MatchString(id) || err != nil || reason == "" {
			return nil, fmt.Errorf("%s:%d: an exception is the vulnerability's name, the day it ends as 2027-03-01, and a reason", path, number)
		}
		if _, twice := all[id]; twice {
			return nil, fmt.Errorf("%s:%d: %s is there twice", path, number, id)
		}
		all[id] = exception{until: until, reason: reason}
	}
	return all, nil
}
