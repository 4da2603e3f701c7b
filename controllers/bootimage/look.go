package bootimage

import (
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/controllers/options"
	guards "github.com/capstan-capi/capstan/guards/bootimage"
	phases "github.com/capstan-capi/capstan/phases/bootimage"
	"github.com/capstan-capi/capstan/phases/records"
)

// Records are what is stored of targets.
type Records = records.ConfigMaps[guards.Facts, *phases.Pass]

// Looking binds the machine to a cluster for who only looks: it has nothing to write with.
func Looking(from client.Reader, o options.Options, now func() time.Time) (*phases.Phases, *Records) {
	p := &phases.Phases{
		Client: from, Live: from, Board: o.BootImages.Board, MachineAPI: o.BootImages.MachineAPI, ClusterAPI: o.BootImages.ClusterAPI,
		CAPINamespace: o.CAPINamespace, Stream: o.BootImages.Stream, Now: now, Steady: now, Blind: func() string { return "" },
	}
	return p, keeps(p, records.Options{Live: from, Clock: clock.RealClock{}, Namespace: o.OperatorNamespace})
}

// Kinds are those that a look reads.
func Kinds(o options.Options) house.Kinds { return apartKinds(o, arrivals{}) }

// RecordConfigMaps are the names of those that records are stored in.
func RecordConfigMaps() []string {
	var all []string
	for n := range shards {
		all = append(all, fmt.Sprintf("%s-%x", recordsName, n))
	}
	return all
}
