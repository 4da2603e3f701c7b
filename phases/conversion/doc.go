// Package conversion is the webhook shim of the private Cluster API types: it stands between API servers, which know private
// objects, and code that knows the standard ones. A review that comes in is translated to standard text, answered by the linked
// packages of Cluster API or by the server that a route leads to, and the answer is translated back; uid, order and number stay.
// It refuses to answer for anybody who is away: what nobody has converted or admitted is not converted, and not admitted. It knows
// no field of an object, keeps none, and logs none.
package conversion
