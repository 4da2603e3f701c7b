// Package flood makes very many inputs out of a few seeds and words, in one process and without looking at what code they reach: some
// hundred times as many in the same time as go test -fuzz. It is for tests of parsers, beside that. It refuses to judge an input: the check
// that it is given does.
package flood
