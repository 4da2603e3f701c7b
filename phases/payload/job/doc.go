// Package job has the installer compose a payload: it renders the objects of a Job that runs the installer's image on the rebuilt
// asset folder, and reads what came of it. It is pure: what it renders somebody else applies; the files and logs that it reads
// are given to it.
//
// The Job is named by what it is made of, so that a repeat finds it. The installer has no token of the cluster; the second
// container, collect, may read and update one Secret, which is rendered empty with the rest. Nothing of a log is given out before
// whatever is secret in the inputs, or looks like a secret, is taken out of it.
package job
