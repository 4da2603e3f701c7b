// Package phasestest counts what phases write through a client, by the words that actions name it with, for
// [machinetest.Ledger]. It is for tests, knows no machine, and refuses to change what a client does.
package phasestest
