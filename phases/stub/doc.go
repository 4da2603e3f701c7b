// Package stub reads which version of the Ignition spec user data is written in: the config that a machine is started with. It
// is pure: bytes in, a version out; no client, no clock, no machine. It links nothing of Ignition, whose validation calls methods
// by their names and so has the linker keep every method of every type of a binary; phases/stub/convert does that.
//
// What it reads is secret and hostile: an error names fields and reasons and never quotes a value, and the size is bounded.
package stub
