package scrape

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

// How long an answer of the API server counts, and how many are remembered.
const (
	// allowedFor is how long a token that may read the metrics is not asked about again.
	allowedFor = time.Minute
	// refusedFor is how long a token that may not is refused without a request.
	refusedFor = 10 * time.Second
	remembered = 128
)

// The API server is asked so often in a second, and so many times at once:
// nobody who has no right may make the operator ask more for him.
const (
	reviewsPerSecond = 1
	reviewsAtOnce    = 10
	// reviewTimeout is how long a request for the metrics waits for the API server to say who asks.
	reviewTimeout = 10 * time.Second
)

// Reviews asks the API server whose a token is, and whether that user may get
// the metrics. What it remembers is lost with the process, and asked again.
type Reviews struct {
	tokens  authenticationv1client.TokenReviewInterface
	rights  authorizationv1client.SubjectAccessReviewInterface
	clock   clock.PassiveClock
	limiter flowcontrol.PassiveRateLimiter

	mu    sync.Mutex
	known map[[sha256.Size]byte]answer
}

// answer is what counts for a token until a moment.
type answer struct {
	verdict int
	until   time.Time
}

// NewReviews asks by a client that others use too.
func NewReviews(config *rest.Config, client *http.Client, now clock.PassiveClock) (*Reviews, error) {
	tokens, err := authenticationv1client.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the client of TokenReviews: %w", err)
	}
	rights, err := authorizationv1client.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the client of SubjectAccessReviews: %w", err)
	}
	return newReviews(tokens.TokenReviews(), rights.SubjectAccessReviews(), now), nil
}

func newReviews(tokens authenticationv1client.TokenReviewInterface, rights authorizationv1client.SubjectAccessReviewInterface, now clock.PassiveClock) *Reviews {
	return &Reviews{
		tokens: tokens, rights: rights, clock: now, known: map[[sha256.Size]byte]answer{},
		limiter: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(reviewsPerSecond, reviewsAtOnce, now),
	}
}

// judge returns 200 for a token that may, and otherwise the answer to give. An
// error is not remembered.
func (r *Reviews) judge(ctx context.Context, token string) (verdict int, err error) {
	sum := sha256.Sum256([]byte(token))
	if verdict, known := r.recall(sum); known {
		return verdict, nil
	}
	if !r.limiter.TryAccept() {
		return http.StatusTooManyRequests, nil
	}
	verdict, err = r.ask(ctx, token)
	if err != nil {
		return http.StatusServiceUnavailable, err
	}
	r.remember(sum, verdict)
	return verdict, nil
}

func (r *Reviews) ask(ctx context.Context, token string) (verdict int, err error) {
	review, err := r.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return 0, fmt.Errorf("asking whose a token is: %w", err)
	}
	user := review.Status.User
	if !review.Status.Authenticated || user.Username == "" {
		return http.StatusUnauthorized, nil
	}
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	access, err := r.rights.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, Groups: user.Groups, UID: user.UID, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: Path, Verb: "get"},
	}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return 0, fmt.Errorf("asking what %s may do: %w", user.Username, err)
	case !access.Status.Allowed:
		return http.StatusForbidden, nil
	}
	return http.StatusOK, nil
}

func (r *Reviews) recall(sum [sha256.Size]byte) (verdict int, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	told, known := r.known[sum]
	if !known || !r.clock.Now().Before(told.until) {
		return 0, false
	}
	return told.verdict, true
}

func (r *Reviews) remember(sum [sha256.Size]byte, verdict int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) >= remembered {
		r.makeRoom()
	}
	if len(r.known) >= remembered {
		return // it is asked again
	}
	long := refusedFor
	if verdict == http.StatusOK {
		long = allowedFor
	}
	r.known[sum] = answer{verdict: verdict, until: r.clock.Now().Add(long)}
}

// makeRoom keeps who was let in, until it is over: nobody who is refused may have others asked about again.
func (r *Reviews) makeRoom() {
	now := r.clock.Now()
	maps.DeleteFunc(r.known, func(_ [sha256.Size]byte, told answer) bool {
		return told.verdict != http.StatusOK || !now.Before(told.until)
	})
}
