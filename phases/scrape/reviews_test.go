package scrape

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// knows has the API server know the users of tokens, and who of them may get metrics.
func knows(cluster *fake.Clientset, users map[string]authenticationv1.UserInfo, may ...string) {
	cluster.PrependReactor("create", "tokenreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authenticationv1.TokenReview)
		review.Status.User, review.Status.Authenticated = users[review.Spec.Token], users[review.Spec.Token].Username != ""
		return true, review, nil
	})
	cluster.PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
		review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview)
		asked := review.Spec.NonResourceAttributes
		review.Status.Allowed = asked.Path == Path && asked.Verb == "get" && slices.Contains(may, review.Spec.User)
		return true, review, nil
	})
}

func noAuthorities(context.Context) (string, error) { return "", nil }

func TestReviews_ask_whose_a_token_is_and_what_he_may(t *testing.T) {
	handler, cluster, clock := gated(noAuthorities)
	knows(cluster, map[string]authenticationv1.UserInfo{"good": {Username: "reader", Groups: []string{"readers"}}, "poor": {Username: "tenant"}}, "reader")
	for _, row := range []struct {
		token       string
		want, asked int
	}{
		{"good", http.StatusOK, 2},
		{"poor", http.StatusForbidden, 2},
		{"forged", http.StatusUnauthorized, 1},
	} {
		cluster.ClearActions()
		for range 3 {
			if got := visit(handler, row.token).Code; got != row.want {
				t.Errorf("%s: the answer is %d, want %d", row.token, got, row.want)
			}
		}
		if got := len(cluster.Actions()); got != row.asked {
			t.Errorf("%s: three visits asked %d times", row.token, got)
		}
	}
	cluster.ClearActions()
	clock.SetTime(noon.Add(allowedFor))
	if got := visit(handler, "good").Code; got != http.StatusOK || len(cluster.Actions()) != 2 {
		t.Errorf("after a minute the answer is %d, asked was %v", got, cluster.Actions())
	}
	spec := cluster.Actions()[1].(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).Spec
	if !slices.Equal(spec.Groups, []string{"readers"}) {
		t.Errorf("asked was about groups %v", spec.Groups)
	}
}

func TestReviews_an_error_lets_nobody_in_and_is_not_remembered(t *testing.T) {
	handler, cluster, _ := gated(noAuthorities)
	knows(cluster, map[string]authenticationv1.UserInfo{"good": {Username: "reader"}}, "reader")
	for _, resource := range []string{"tokenreviews", "subjectaccessreviews"} {
		broken := true
		cluster.PrependReactor("create", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
			return broken, nil, errors.New("the API server is away")
		})
		if got := visit(handler, "good").Code; got != http.StatusServiceUnavailable {
			t.Errorf("without %s the answer is %d", resource, got)
		}
		broken = false
	}
	if got := visit(handler, "good").Code; got != http.StatusOK {
		t.Errorf("when it is back the answer is %d", got)
	}
}

func TestReviews_tokens_without_number_cost_no_requests_and_no_memory_without_number(t *testing.T) {
	handler, cluster, clock := gated(noAuthorities)
	knows(cluster, map[string]authenticationv1.UserInfo{"good": {Username: "reader"}}, "reader")
	visit(handler, "good")
	cluster.ClearActions()
	refused := 0
	for i := range 1000 {
		if visit(handler, fmt.Sprintf("forged %d", i)).Code == http.StatusTooManyRequests {
			refused++
		}
	}
	if asked := len(cluster.Actions()); asked > reviewsAtOnce || refused != 1000-asked {
		t.Errorf("1000 tokens asked %d times, and %d were put off", asked, refused)
	}
	if got := visit(handler, "good").Code; got != http.StatusOK {
		t.Errorf("who was let in before gets %d meanwhile", got)
	}
	reviews := newReviews(nil, nil, clock)
	for i := range 1000 {
		reviews.remember([32]byte{byte(i), byte(i >> 8)}, http.StatusOK)
	}
	if len(reviews.known) > remembered {
		t.Errorf("%d answers are remembered", len(reviews.known))
	}
	clock.SetTime(noon.Add(time.Second))
	if got := visit(handler, "forged again").Code; got != http.StatusUnauthorized {
		t.Errorf("a second later the answer is %d", got)
	}
}

func TestReviews_wrong_tokens_do_not_make_right_ones_be_asked_about_again(t *testing.T) {
	_, _, clock := gated(noAuthorities)
	reviews := newReviews(nil, nil, clock)
	good := [32]byte{1}
	reviews.remember(good, http.StatusOK)
	for i := range 3 * remembered {
		reviews.remember([32]byte{2, byte(i), byte(i >> 8)}, http.StatusUnauthorized)
	}
	if verdict, known := reviews.recall(good); !known || verdict != http.StatusOK {
		t.Errorf("after many wrong tokens the right one is known: %t", known)
	}
	for i := range 3 * remembered {
		reviews.remember([32]byte{3, byte(i), byte(i >> 8)}, http.StatusOK)
	}
	if _, known := reviews.recall(good); !known || len(reviews.known) > remembered {
		t.Errorf("of %d answers the first is known: %t", len(reviews.known), known)
	}
	clock.SetTime(noon.Add(allowedFor))
	reviews.remember([32]byte{4}, http.StatusOK)
	if _, known := reviews.recall([32]byte{4}); !known || len(reviews.known) != 1 {
		t.Errorf("what is over keeps its room: %d are remembered", len(reviews.known))
	}
}
