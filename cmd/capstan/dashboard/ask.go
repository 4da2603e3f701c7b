package dashboard

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/message"
)

// lane has one request under way at a time. One that was given up keeps it until it comes back: a credential plugin that hangs
// hears of no context.
type lane chan struct{}

func newLane() lane { return make(lane, 1) }

// grace is how long a request that was given up is waited for, so that it says itself what went wrong.
const grace = time.Second

var (
	// errBusy is why nothing is asked: the request before has not come back.
	errBusy = errors.New("the request before has not come back")
	// errLost is why a request was given up that does not hear of it.
	errLost = errors.New("the request does not come back")
)

// take has the lane, and says whether it was free.
func (l lane) take() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

// ask has something asked when the lane is free, and returns when it is answered, or soon after the context has ended, whatever
// becomes of it.
func ask[T any](ctx context.Context, l lane, do func(context.Context) (T, error)) (T, error) {
	select {
	case l <- struct{}{}:
		return taken(ctx, l, do)
	case <-ctx.Done():
		var none T
		return none, errBusy
	}
}

// taken is ask for who has the lane.
func taken[T any](ctx context.Context, l lane, do func(context.Context) (T, error)) (T, error) {
	var none T
	type said struct {
		value T
		err   error
	}
	answers := make(chan said, 1)
	go func() {
		defer func() { <-l }()
		value, err := do(ctx)
		answers <- said{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-timer.C:
		return none, errLost
	}
}

// within is ask with a bound of time.
func within[T any](ctx context.Context, l lane, d time.Duration, do func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return ask(ctx, l, do)
}

// explain makes an error of a request one for a person, who is told the next step.
func explain(err error, config *rest.Config, d time.Duration, verb, object string) error {
	var told *inspect.Error
	plugin := config.ExecProvider
	switch {
	case errors.Is(err, errLost), errors.Is(err, errBusy):
		what := fmt.Sprintf("%s does not answer: nothing came within %s", config.Host, message.Duration(d))
		if plugin != nil {
			return &inspect.Error{What: what + "; " + plugin.Command + ", which gives the credentials, may wait for somebody", Next: "log in with kubectl, and end " + plugin.Command + " if it still runs", Err: err}
		}
		return &inspect.Error{What: what, Next: "check that it runs and can be reached from here", Err: err}
	case errors.As(err, &told):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return &inspect.Error{
			What: fmt.Sprintf("%s does not answer: nothing came within %s", config.Host, message.Duration(d)), Next: "check that it runs and can be reached from here", Err: err,
		}
	case plugin != nil && ofPlugin(err):
		return &inspect.Error{
			What: config.Host + " could not be asked: " + err.Error(),
			Next: "log in again, since the kubeconfig has " + plugin.Command + " give the credentials; then check that it can be reached from here", Err: err,
		}
	}
	return inspect.Explain(err, config.Host, verb, object)
}

// ofPlugin says that an error comes neither from the API server nor is it known to come from the network: then it is most likely of
// what gives credentials.
func ofPlugin(err error) bool {
	var request *url.Error
	var status apierrors.APIStatus
	if errors.As(err, &status) || !errors.As(err, &request) {
		return false
	}
	var network net.Error
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	return !errors.As(request.Err, &network) && !errors.As(request.Err, &dial) && !errors.As(request.Err, &certificate)
}
