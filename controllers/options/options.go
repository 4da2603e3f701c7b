// Package options holds what every controller is given when the operator
// starts. It reads no flags and no environment; the commands do.
package options

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/controllers/house"
	"github.com/capstan-capi/capstan/phases/bootboard"
	"github.com/capstan-capi/capstan/phases/capiboard"
)

// Options is the same for all controllers.
type Options struct {
	// REST is for clients that obey Retry-After by themselves; all others are the manager's.
	REST *rest.Config
	// Release is the version that the operator was released with, such as 4.22.6.
	Release           string
	OperatorNamespace string
	CAPINamespace     string
	// CacheDir keeps provider images by digest through restarts.
	CacheDir string
	// ProviderImageDir is the folder below which the operator's own Pod, PodName, mounts provider images; empty for none.
	ProviderImageDir, PodName string
	// InsecureRegistries, as host[:port], may be spoken to in plain HTTP; loopback ones always may.
	InsecureRegistries []string
	// InsecureCredentials has credentials sent in plain HTTP too.
	InsecureCredentials bool
	// ExtraCAFile has certificates of registries that are trusted besides the system's; empty for none.
	ExtraCAFile string
	// PullSecrets have the credentials for registries.
	PullSecrets []types.NamespacedName
	// MetricsAddress is where metrics are served, with the certificate in the folder MetricsCertDir; "0" or empty for nowhere.
	MetricsAddress, MetricsCertDir string
	// WebhooksURL is where API servers find the checker instead of at its Service, and WebhooksCA is whom they trust there;
	// empty on a cluster.
	WebhooksURL string
	WebhooksCA  []byte
	// OpenAfter is how long the checker may be away before nothing is refused any more; 0 for ever.
	OpenAfter time.Duration
	// BootImages is what the machines of boot images are given.
	BootImages BootImages
	// PrivateCAPI is what the move of HostedClusters to private types of Cluster API is given.
	PrivateCAPI PrivateCAPI
	// Concurrency bounds how many objects are applied at the same time.
	Concurrency int
	// WarmUp is given what runs from the start of the process until its end, beside the manager and whoever holds the Lease.
	WarmUp func(run func(context.Context) error)
	// ClusterOperators are those that machines report on.
	ClusterOperators []string
	// ConditionParts are the parts of all machines, whose conditions are summed up.
	ConditionParts []string
	// House is what all machines share.
	House *house.House
}

// PrivateCAPI says how HostedClusters are moved to private types of Cluster API.
type PrivateCAPI struct {
	// Image is that of the proxy that components get beside them; empty for no moves, and no request for HostedClusters unless InUse.
	Image string
	// InUse says that HostedClusters have private types, which are not switched off by leaving Image out.
	InUse bool
	// LegacyOperator is the Deployment of HyperShift's old operator, which is retired once nobody needs it; empty to leave it alone.
	LegacyOperator types.NamespacedName
	// Board is what the machines of private types tell each other.
	Board *capiboard.Board
}

// Runs says whether HostedClusters are looked at.
func (p PrivateCAPI) Runs() bool { return p.Image != "" || p.InUse }

// BootImages says whose boot images are moved, and how.
type BootImages struct {
	// MachineAPI and ClusterAPI say which APIs' targets are; with neither, no request is made for boot images.
	MachineAPI, ClusterAPI bool
	// GCPProject is where releases publish their images on GCP, Stream the stream of operating systems that they are of, and
	// Limits the oldest boot images that the next release can start from, as two versions with a comma between.
	GCPProject, Stream, Limits string
	// RollsOutBefore is the first minor release whose ControlPlaneMachineSet leaves machines alone that differ in nothing but
	// the boot image.
	RollsOutBefore string
	// Board is what gate and targets tell each other.
	Board *bootboard.Board
}

// Any says that boot images of some API are moved.
func (b BootImages) Any() bool { return b.MachineAPI || b.ClusterAPI }
