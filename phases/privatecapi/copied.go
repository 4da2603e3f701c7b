package privatecapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	guards "github.com/capstan-capi/capstan/guards/privatecapi"
	"github.com/capstan-capi/capstan/machine"
)

// isNoted says that the source says which its copy is.
func (c couple) isNoted() bool {
	return c.source.GetAnnotations()[guards.CopiedToAnnotation] == string(c.target.GetUID())
}

// wasCopied says that a copy of the source was seen once. The target may have deleted it since.
func (c couple) wasCopied() bool { return c.source.GetAnnotations()[guards.CopiedToAnnotation] != "" }

// copiedNotes are the writes that have each source say which its copy is.
func (s *sides) copiedNotes() []*Write {
	var plan []*Write
	for _, c := range s.couples {
		if c.isCopy() && !c.isNoted() {
			plan = append(plan, annotate(c.kinds.source, c.source, map[string]any{guards.CopiedToAnnotation: string(c.target.GetUID())}))
		}
	}
	return plan
}

// isInfrastructureCluster says that objects of a kind are what a Cluster stands for at a cloud.
func isInfrastructureCluster(k Kind) bool {
	return strings.HasPrefix(k.Group, "infrastructure.") && strings.HasSuffix(k.Kind, "Cluster")
}

// dying is the error of a source that is being deleted, by the garbage collector or behind the fence, and whose copy is not: whoever
// wanted that would wait in vain.
func (s *sides) dying() error {
	for _, c := range s.couples {
		if c.isDying() {
			return machine.Terminal(errors.New(c.dyingText()))
		}
	}
	return nil
}

func (c couple) isDying() bool {
	return c.source != nil && c.target != nil && c.source.GetDeletionTimestamp() != nil && c.target.GetDeletionTimestamp() == nil
}

func (c couple) dyingText() string {
	return c.name() + " is terminating at the source, and its copy is not: delete that too if it is to go"
}

// sourceCounts is the error of a source that may be all there is: something of it was never copied, as where somebody has put or
// changed what stands beside the lock, or the target has lost a Cluster.
func (s *sides) sourceCounts() error {
	for _, c := range s.couples {
		if c.source != nil && !c.wasCopied() {
			return machine.Terminal(fmt.Errorf("%s at the source was never copied: neither deleted nor changed, since it may be all there is of it", c.name()))
		}
	}
	for _, c := range s.couples {
		if c.source != nil && s.isLost(c) {
			return machine.Terminal(fmt.Errorf("%s has no copy at the target any more: nothing of the source is deleted, since it may be all there is", c.name()))
		}
	}
	return nil
}

// isLost says that a Cluster, or what it stands for at a cloud, is gone at the target though nobody is deleting it there.
func (s *sides) isLost(c couple) bool {
	if isCluster(c.kinds.source) {
		return !c.isPair()
	}
	return isInfrastructureCluster(c.kinds.source) && c.target == nil && !slices.ContainsFunc(s.couples, func(other couple) bool {
		return isCluster(other.kinds.source) && other.target != nil && other.target.GetDeletionTimestamp() != nil
	})
}
