// Package live reads of an API server what requirements are about: a definition, within bounds, and whether a requirement is gone
// that is not found. It is the only room of phases/crdschema that has a client, and it writes nothing.
package live
