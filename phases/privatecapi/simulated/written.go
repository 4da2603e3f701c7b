package simulated

import phases "github.com/capstan-capi/capstan/phases/privatecapi"

// Written counts what the machine has written but its records and conditions, by the words that actions name it with, and Deleted how
// often it has deleted something.
func (w *World) Written() map[string]int { return w.server.written }

// Deleted is part of what Written counts.
func (w *World) Deleted() int { return w.server.deleted }

// took counts a write of the machine.
func (s *server) took(w phases.Write) {
	if w.Verb == phases.Delete {
		s.deleted++
	}
	s.written[wordFor(w)]++
}

// wordFor is what actions call a write.
func wordFor(w phases.Write) string {
	switch of := w.Kind; {
	case phases.SideOf(of.Group) != "" && w.Status:
		return "status of objects of Cluster API"
	case phases.SideOf(of.Group) != "":
		return "objects of Cluster API"
	case of.Resource == phases.HostedClusters.Resource && w.Status:
		return "status of HostedCluster"
	case of.Kind == "HostedCluster", of.Kind == "Namespace", of.Kind == "Lease", of.Kind == "Deployment":
		return of.Kind
	}
	return "ownerReferences of dependents"
}
