// Package linked converts Cluster API objects by the packages of Cluster API itself, in standard text. It is in a module of its
// own, since Cluster API is nothing that the operator needs. It refuses kinds that these packages do not convert, and asks nobody
// but its source of contract labels.
package linked
