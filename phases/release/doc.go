// Package release knows what a release image is: by which version it calls itself, read from a label of its config without any of
// its layers, and to which version a cluster may go from the one that it has. It never guesses: an image without the label, or a
// version that cannot be compared, is refused with what to do. It makes no image wanted and keeps nothing.
package release
