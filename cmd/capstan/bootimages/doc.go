// Package bootimages tells people how boot images stand: of the gate, and of each target, why it has or has not moved. It
// looks at the live objects by the same phases, guards and tables as the operator does, and takes from what an operator has
// stored only what looking would not show. It changes nothing, and needs no operator that runs.
package bootimages
