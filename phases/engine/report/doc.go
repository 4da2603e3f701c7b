// Package report holds what the engine tells: where a revision stands, object by object, what a teardown did, and what
// went wrong, by who can do something about it. It knows no cluster; a report is shared by all who read it and changed
// by nobody.
package report
