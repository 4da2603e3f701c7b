// Package protobuf translates the protobuf content of the Kubernetes API: the envelope of an object, its owners and field
// managers, the items of lists, watch frames, Status, the kinds whose texts name a group elsewhere, and OpenAPI v2. It knows
// where such texts stand, by field number, and what is not one of them it copies byte for byte, fields that it does not know
// included. It refuses to know a group: what becomes of a text is said by the Texts that it is given. It holds what it
// translates as a whole, since the length of a message stands before it, and refuses what is malformed, what is nested deeper
// than 1,000 messages, and frames that its caller has no room for.
package protobuf
