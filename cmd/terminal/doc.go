// Package terminal is what the commands of all binaries have in common: how they print what anybody may have written, so that no
// terminal obeys it. It knows no cluster and no machine.
package terminal
