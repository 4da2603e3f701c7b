package plan

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/phases/engine"
	"github.com/capstan-capi/capstan/transport"
	"github.com/capstan-capi/capstan/transport/harmless"
)

// As is who a plan was made as.
type As struct {
	User string `json:"user"`
	// Operator says that it is the operator itself, by impersonation.
	Operator bool `json:"operator"`
}

// Access is how a plan gets at a cluster: as the operator where the viewer may impersonate it, else as the viewer.
type Access struct {
	As     As
	Config *rest.Config // refuses all that changes anything

	account Account
	reviews authorizationclient.AuthorizationV1Interface // as whoever looks
	limits  []string

	mu    sync.Mutex
	asked map[question]answer
}

// Account is the operator's ServiceAccount.
type Account struct{ Namespace, Name string }

// User is the account's name as a user.
func (a Account) User() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

func (a Account) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"}
}

// NewAccess finds out as whom to look.
func NewAccess(ctx context.Context, config *rest.Config, account Account) (*Access, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // eight requests at a time are bound enough
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, &inspect.Error{What: "the kubeconfig cannot be used: " + err.Error(), Next: "repair it, or name another with --kubeconfig", Err: err}
	}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return harmless.New(server.Path, transport.NewPatient(next))
	})
	a := &Access{Config: config, account: account, asked: map[question]answer{}}
	if a.reviews, err = authorizationclient.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	who, err := authenticationclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	self, err := who.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return nil, inspect.Explain(err, config.Host, "create", "SelfSubjectReviews")
	}
	a.As.User = self.Status.UserInfo.Username
	if a.As.User == account.User() {
		a.As.Operator = true
		return a, nil
	}
	if config.Impersonate.UserName != "" {
		a.limits = append(a.limits, "the plan is made as "+a.As.User+", and not as the operator: whoever acts as somebody acts as nobody else")
		return a, nil
	}
	may, err := a.self(ctx, &authorizationv1.ResourceAttributes{Verb: "impersonate", Resource: "serviceaccounts", Namespace: account.Namespace, Name: account.Name})
	if err != nil {
		return nil, inspect.Explain(err, config.Host, "create", "SelfSubjectAccessReviews")
	}
	if !may {
		a.limits = append(a.limits, fmt.Sprintf("the plan is made as %s, who may not impersonate ServiceAccount %s/%s: policies that name the operator are not asked", a.As.User, account.Namespace, account.Name))
		return a, nil
	}
	a.As = As{User: account.User(), Operator: true}
	a.Config = rest.CopyConfig(config)
	a.Config.Impersonate = rest.ImpersonationConfig{UserName: account.User()}
	if a.reviews, err = authorizationclient.NewForConfig(a.Config); err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return a, nil
}

func (a *Access) self(ctx context.Context, what *authorizationv1.ResourceAttributes) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: what}}
	said, err := a.reviews.SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return said.Status.Allowed, nil
}

// question is asked once; names of objects do not matter, since nobody is given rights on a few objects that come and go.
type question struct {
	verb, group, resource, namespace string
	operator                         bool
}

type answer struct {
	allowed bool
	err     error
}

func attributes(r engine.Request) *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{Verb: r.Verb, Group: r.Resource.Group, Resource: r.Resource.Resource, Namespace: r.Namespace}
}

// MayTry says whether a dry run is sent: always as the operator, whose refusals are part of a plan, and else where the viewer may write.
func (a *Access) MayTry(ctx context.Context, r engine.Request) bool {
	if a.As.Operator {
		return true
	}
	verbs := []string{r.Verb}
	if r.Verb == "create" { // an object that turns out to be there is tried by a patch
		verbs = append(verbs, "patch")
	}
	for _, verb := range verbs {
		r.Verb = verb
		if said := a.ask(r, false, func() (bool, error) { return a.self(ctx, attributes(r)) }); said.err != nil || !said.allowed {
			return false
		}
	}
	return true
}

// operatorMay says whether the operator has a right; an error says that nobody may ask.
func (a *Access) operatorMay(ctx context.Context, r engine.Request) (bool, error) {
	said := a.ask(r, true, func() (bool, error) {
		if a.As.Operator {
			return a.self(ctx, attributes(r))
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: a.account.User(), Groups: a.account.groups(), ResourceAttributes: attributes(r),
		}}
		said, err := a.reviews.SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		return said.Status.Allowed, nil
	})
	return said.allowed, said.err
}

func (a *Access) ask(r engine.Request, operator bool, ask func() (bool, error)) answer {
	q := question{r.Verb, r.Resource.Group, r.Resource.Resource, r.Namespace, operator}
	a.mu.Lock()
	known, is := a.asked[q]
	a.mu.Unlock()
	if is {
		return known
	}
	allowed, err := ask()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[q] = answer{allowed, err}
	return a.asked[q]
}
