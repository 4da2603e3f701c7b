// Package compatibility serves the checker's webhooks: it answers API servers whether a requirement is usable, whether a
// CustomResourceDefinition still meets all requirements, and whether an object could be read by whoever has a requirement. It
// asks phases/crdschema, and writes nothing; what objects hold is told to who sent them, and never logged.
package compatibility
