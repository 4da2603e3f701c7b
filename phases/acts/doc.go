// Package acts reads and writes acts: what people ask of a running Capstan for a time, by an annotation of ClusterAPI
// cluster. It is pure: the clock is an argument, and what an act does is the business of who obeys it. It refuses to read
// half an act: one that is not written exactly as it should be, is over a limit, has ended or comes from the future is
// void as a whole.
package acts
