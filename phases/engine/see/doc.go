// Package see is how the engine sees a cluster: it reads objects and keeps the newest copy of each, compressed (object.go),
// lists and watches them (watch.go, wire.go), and asks which kinds the API server serves (kinds.go). It decides nothing
// and writes nothing. What watches have shown is guarded by the lock of one Cluster.
package see
