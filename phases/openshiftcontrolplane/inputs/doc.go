// Package inputs does the part of the machine openshiftcontrolplane that has to do with what people give and what machines are
// started with: it reads release, install-config, installer's state, manifests and templates, says what is wrong with them, freezes
// them by a mark, and makes the payload of them, once, before any Machine.
//
// Secrets are watched as metadata, and read from the API server itself when that says that they have changed. What is remembered of
// them is their digest and what is wrong; if it is lost, they are read again.
//
// It refuses to write an input, to overwrite what is somebody else's, to make a payload of other inputs than the frozen ones, and to
// make another one once a Machine was made with the first.
package inputs
