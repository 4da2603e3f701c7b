// Package apiproxy is the process beside a component of Cluster API that lets it speak of the standard groups where the server
// stores private ones: plain HTTP on loopback, on to the API server with the pod's own identity. What is translated, and how,
// is said by phases/rewrite alone. Watches and streams share a connection of HTTP/2, and so do writes that are under way beside others;
// each other document has one of HTTP/1.1 while it comes. It refuses to know a field of an object, to cache, to keep anything
// of a request after it, to pass on an identity that the client claims, to serve anybody but the pod it is in, which is told by
// a token once one was written, and to try a write again of which the server may have taken notice. A stream that breaks
// upstream breaks: it never ends as if it were whole.
package apiproxy
