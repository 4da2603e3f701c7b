// Package keys makes what payloads are sealed with: authorities as Cluster API keeps them, a Secret each, and certificates that they
// sign. It is the one place of a payload where chance and the time of day come in: what it makes is stored before it is used, and
// whatever is made of it afterwards is the same every time. A [Stock] makes authorities before any cluster needs them; it holds them in
// memory and stores nothing. It sends no request, replaces nothing that is there and right, and no error holds a byte of a key.
package keys
