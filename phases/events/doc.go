// Package events writes the Events of all machines: what has come to stand, and
// the moves that a machine has made. It knows no machine, decides nothing, and
// never holds up a pass.
package events
