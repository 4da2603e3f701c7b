package standing

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/capstan-capi/capstan/api/v1alpha1"
	"github.com/capstan-capi/capstan/machine"
)

// Told is what the status says of a record for people. The record itself lies beside it.
func Told(r machine.Record) v1alpha1.StateStatus {
	s := v1alpha1.StateStatus{State: string(r.State), Since: Second(r.Since), Waits: machine.Shorten(r.Reason, machine.MaxMessage)}
	if d := r.Deadline; d != nil {
		s.Deadline = &v1alpha1.Deadline{At: *Second(d.At), To: string(d.To)}
	}
	if f := r.Failure; f != nil {
		s.LastFailure = &v1alpha1.Failure{Message: machine.Shorten(f.Message, machine.MaxMessage), Since: *Second(f.Since)}
		if f.Terminal {
			s.LastFailure.Terminal = &f.Terminal
		}
	}
	return s
}

// Second is a time as the API stores it: what is finer would differ from that on every pass.
func Second(at time.Time) *metav1.Time { return &metav1.Time{Time: at.Truncate(time.Second)} }
