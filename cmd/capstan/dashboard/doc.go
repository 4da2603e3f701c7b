// Package dashboard is the logic of `capstan dashboard`: it serves a page on this machine that shows how clusters stand, for one
// person, with the rights that person's kubeconfig has. It computes nothing of its own about machines: views do that, as for the
// other commands. It changes nothing in a cluster, which its transport holds it to, and acts on nothing: it names commands to copy.
// It asks a cluster only while somebody looks at it, and never for one object of many.
package dashboard
