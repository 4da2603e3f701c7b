package clusterapi

import (
	"slices"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
)

// The changes of ClusterAPI.status. Each keeps what it changes within the API's
// own rules, whatever has become of the object since it was looked at, and says
// whether there is anything to write.

// enlist makes an entry the desired revision, and generation the observed one, if
// it is newer than all others and there is room once the revisions that give way
// are off the list.
func enlist(api *operatorv1alpha1.ClusterAPI, entry operatorv1alpha1.ClusterAPIInstallerRevision, giveWay []operatorv1alpha1.ClusterAPIInstallerRevision, generation int64) bool {
	status := &api.Status
	stay := slices.DeleteFunc(slices.Clone(status.Revisions), func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool {
		return r.Name != status.CurrentRevision && slices.ContainsFunc(giveWay, func(gone operatorv1alpha1.ClusterAPIInstallerRevision) bool { return gone.Name == r.Name })
	})
	if desired := DesiredOf(status); desired != nil && desired.Revision >= entry.Revision || len(stay) >= guards.MaxRevisions {
		return false
	}
	stay = append(stay, entry)
	status.Revisions = stay
	status.DesiredRevision = entry.Name
	observe(api, generation)
	return true
}

// observe notes that a generation of the spec was seen.
func observe(api *operatorv1alpha1.ClusterAPI, generation int64) bool {
	if api.Status.ObservedRevisionGeneration >= generation {
		return false
	}
	api.Status.ObservedRevisionGeneration = generation
	return true
}

// nextNumber is the number that a new revision gets.
func nextNumber(desired *operatorv1alpha1.ClusterAPIInstallerRevision, highest int64) int64 {
	if desired != nil {
		highest = max(highest, desired.Revision)
	}
	return highest + 1
}

// makeCurrent writes that a revision is fully applied, if it is still listed.
func makeCurrent(api *operatorv1alpha1.ClusterAPI, name operatorv1alpha1.RevisionName) bool {
	if !isListed(api, name) || api.Status.CurrentRevision == name {
		return false
	}
	api.Status.CurrentRevision = name
	return true
}

func isListed(api *operatorv1alpha1.ClusterAPI, name operatorv1alpha1.RevisionName) bool {
	return slices.ContainsFunc(api.Status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool { return r.Name == name })
}

// trim removes what is older than a number. The current revision stays listed,
// whatever its number, and so does the desired one.
func trim(api *operatorv1alpha1.ClusterAPI, number int64) bool {
	desired, current := api.Status.DesiredRevision, api.Status.CurrentRevision
	listed := len(api.Status.Revisions)
	api.Status.Revisions = slices.DeleteFunc(api.Status.Revisions, func(r operatorv1alpha1.ClusterAPIInstallerRevision) bool {
		return r.Revision < number && r.Name != current && r.Name != desired
	})
	return len(api.Status.Revisions) < listed
}
