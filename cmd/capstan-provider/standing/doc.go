// Package standing is how commands read where the installation of a cluster stands, out of what an OpenShiftControlPlane says of
// itself. It reads what anybody may have written, and believes none of it more than it has to: it decides nothing and writes nothing.
package standing
