// Package policy says what a provider image may contain. A digest proves that an image is the one that was asked for; this
// proves that it stays within what installing Cluster API needs, so that a mistake in an image, or somebody who may choose
// one, does not get the operator's rights. It is pure: objects in, breaches out. It judges what objects say, never what is
// in a cluster, and refuses what it cannot read.
package policy
