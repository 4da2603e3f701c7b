// Package explaining is the logic of `capstan-provider explain`: on one screen, why a cluster is where it is, and what to do. It reads
// a few objects once, says which of them it may not read, and writes nothing.
package explaining
