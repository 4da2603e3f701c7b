// Package hosted is the logic of the commands about hosted clusters that get Cluster API types of their own: where each stands and
// why, and what people ask of their moves. It writes annotations that are requests of people, the mark of a failed move, which
// only goes, and one key of the programme's ConfigMap. It touches no lock, no fence and no object of Cluster API, and decides
// nothing of a move: whose turn it is the operator says, and whether a request counts.
package hosted
