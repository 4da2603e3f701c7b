// Package stub reads the Ignition config that a machine is started with, its user data, and brings one of spec 2 to spec 3.1,
// with every customization and all of each. It is pure: bytes in, bytes out; no client, no clock, no machine.
//
// What it reads is secret and hostile: an error names fields and reasons and never quotes a value, size and number of values are
// bounded, and a panic of a library is an error.
//
// The order of a conversion: decode reads spec 2 and refuses what Ignition would ignore; plainly says the same once, in words
// that spec 3 has, too; translate has the library convert that, and mends what it loses; prove reads the result again, converts
// it back, and compares.
package stub
