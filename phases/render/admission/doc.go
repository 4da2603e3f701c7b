// Package admission says to API servers what package policy says to whoever renders an image, so that a wall stands outside
// of the process too: policies that hold the installer's ServiceAccount to the same rules, and others that keep everybody
// else from what the installer believes. It makes objects, and applies nothing.
//
// An API server judges one object. It exempts admission policies and their bindings from admission policies, so the rule
// admission has no second wall; and that a namespace is brought by the same profile it can tell only of objects in it. What
// it can see of a second object it sees as a parameter: each role that is not managed is one for the rule role.
//
// Parameters that an API server cannot have refuse whatever the policy matches, whoever asks. So no policy with parameters
// matches more than the objects that need them: exceptions are looked up only for objects that carry a label with the rules
// they break, which the installer puts on.
package admission
