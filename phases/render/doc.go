// Package render turns the profiles of provider images into a rendered
// revision: it reads their metadata, selects what belongs to the cluster's
// platform, orders it, substitutes variables, parses and labels the objects,
// and names the whole by its content. It is pure: bytes in, revision or
// problems out. It refuses to read files, clocks or clusters, to depend on the
// order of maps or of its input, to guess at what it cannot parse, and to stop
// at the first problem when there are more to report.
package render
