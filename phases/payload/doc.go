// Package payload reads what people give for a cluster of OpenShift, and says what is wrong with it before a machine costs money:
// an install-config, the installer's own state, or both, and manifests. It merges manifests in a way that depends on no order, and
// makes one digest of everything, by which later edits are noticed. Its rooms make of that what machines are started with: builtin
// composes it, job has the installer compose it; ignition and keys are what they are made with.
//
// It is pure: bytes in, values and problems out; no client, no clock. Inputs hold passwords and keys: a problem names places and
// fields, says what to do, and never quotes a value. It changes nothing that it was given.
package payload
