// Package simulated is a cluster in memory in which the real phases of the
// machine clusterapi run: stories and the random walk are played on it. What
// people and the platform put into a cluster is in controller-runtime's fake
// client, provider images come from named releases, whose profiles the real
// phases/render renders, and a second implementation of the interface that the
// phases have towards their engine rolls revisions out to a map of objects. It
// refuses to be faithful where no phase looks: objects are names and numbers
// here, without content.
package simulated
