// Package options holds what every controller is given when the operator
// starts. It reads no flags and no environment; the commands do.
package options

import (
	"k8s.io/utils/clock"

	"github.com/capstan-capi/capstan/phases/images"
)

// Options is the same for all controllers.
type Options struct {
	// Release is the version that the operator was released with, such as 4.22.6.
	Release           string
	OperatorNamespace string
	CAPINamespace     string
	// Concurrency bounds how many objects are applied at the same time.
	Concurrency int
	// Images makes the source of provider images; changed is called whenever one of them has changed.
	Images func(changed func()) (images.Source, error)
	Clock  clock.WithTicker
}
