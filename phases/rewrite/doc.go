// Package rewrite turns what a Cluster API client says into what the API
// server stores for hosted clusters, and back. A client speaks of the standard
// groups; the server keeps the objects in private ones. The map of groups is a
// permutation of three bases, so that nothing is lost on the way: what was
// turned for the client and is turned back for the server is the same text.
//
// Text is a group at a group place only, and only as a whole "group" or
// "group/version", judged as the decoded string. Which places there are follows
// from the class of a request, and that from its method and path, parsed as the
// API server parses them (ParseRequest). What is not rewritten is copied byte for
// byte. Only how a group was escaped is lost, if it was.
//
// Bodies are read in one pass (Request.Body, Request.Answer): a scanner follows
// the text and a tree of places side by side, and keeps the path to the present
// point, at most 1,000 levels, and at most 64 KiB of text to look ahead where what a
// value is follows from what is behind it: operations of a JSON Patch,
// attributes in reviews, groups in discovery. YAML alone is held whole, since it
// is sent as JSON. Protobuf is the room protobuf's.
//
// It refuses to do any I/O of its own, but on the readers and writers that it is
// given; to know a schema; to rewrite labels, annotations, finalizers, free text
// or the content of Secrets and ConfigMaps; to guess what a path or a body
// means that can be read in two ways: those are errors, made before anything
// is acted upon.
package rewrite
