// Package creating makes of an install-config all objects by which an OpenShift cluster is asked for on a management plane of
// Cluster API. The same input gives the same bytes.
//
// It is pure: bytes in, objects out. It refuses whatever phases/payload would refuse later, and names all places. It asks no cluster
// and no cloud, and does not guess what only a cloud knows, such as the image that machines are started from.
package creating
