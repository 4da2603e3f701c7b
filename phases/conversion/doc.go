// Package conversion is the webhook shim of the private Cluster API types: it stands between API servers, which know private
// objects, and code that knows the standard ones. A review that comes in is translated to standard text, answered by the linked
// packages of Cluster API or by the server that a route leads to, and the answer is translated back; uid, order and number stay.
// It refuses to answer for anybody who is away: what nobody has converted or admitted is not converted, and not admitted. It knows
// no field of an object, keeps none, and logs none.
//
// Every Pod can reach its port, so that it refuses, before anything is decoded, what would take more memory or time than the review of
// an API server: a body of more than 128 MiB, or one that does not come within 8 s; more than 20,000 objects, or one of more than
// 4 MiB; more than 1 MiB of a request beside its objects, such as the groups of a user; a review that has a response; a key that is
// there twice, or in other letters, which a decoder would take for the same. Room is taken as bytes come, four times as many, and all
// reviews together have 512 MiB: one that has begun is refused where there is no more, and one that has not waits. Objects that are
// decoded at one time have 4 MiB of text together, since a list of empty elements takes a hundred times its text.
package conversion
