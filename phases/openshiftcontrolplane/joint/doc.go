// Package joint makes one look, and one set of works, of what three rooms do for the machine openshiftcontrolplane: inputs, machines and
// guests. It refuses to look or to do anything by itself, and to decide.
package joint
