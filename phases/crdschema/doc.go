// Package crdschema judges whether a live CustomResourceDefinition meets a CompatibilityRequirement: it decodes what the
// requirement holds, selects versions, leaves out excluded fields, and compares schemas. It is pure: no client, no clock, no
// machine. What it reads is hostile: size, depth and alias expansion are bounded, and a panic of a library is an error.
//
// Its rooms: judge gives the API server's own verdict on objects, were the requirement's definition installed; strict gives the
// API server's own verdict on the requirement's definition, and is the only room that links API servers' own validation; live
// reads of an API server what requirements are about, and has a client; paths has the URLs of the webhooks.
package crdschema
