package inspect

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Access says which cluster to look at, and as whom: the flags that users of
// kubectl know.
type Access struct {
	Kubeconfig string
	Context    string
	As         string
	// Timeout bounds each request; zero for no bound.
	Timeout time.Duration
	// Unattended keeps a credential plugin from standard input, which is somebody else's.
	Unattended bool
}

// Flags adds the flags of an access.
func (a *Access) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&a.Kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it KUBECONFIG, then ~/.kube/config, then the pod's service account")
	flags.StringVar(&a.Context, "context", "", "`name` of the kubeconfig's context to use")
	flags.StringVar(&a.As, "as", "", "`user` to act as")
	flags.DurationVar(&a.Timeout, "request-timeout", 10*time.Second, "how long one request may take; 0 for no bound")
}

// Current is the name of the context that is used; empty where there is none, as in a pod.
func (a *Access) Current() string {
	if a.Context != "" {
		return a.Context
	}
	raw, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(a.rules(), nil).RawConfig()
	if err != nil {
		return "" // which Config tells
	}
	return raw.CurrentContext
}

// rules say which kubeconfig counts.
func (a *Access) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.Kubeconfig
	return rules
}

// Contexts are the names of the kubeconfig's contexts, in their order.
func (a *Access) Contexts() ([]string, error) {
	raw, err := a.rules().Load()
	if err != nil {
		return nil, unusable(err)
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), nil
}

// Config finds the cluster. Its errors are for people.
func (a *Access) Config() (*rest.Config, error) {
	rules := a.rules()
	overrides := &clientcmd.ConfigOverrides{CurrentContext: a.Context, Timeout: a.Timeout.String()}
	overrides.AuthInfo.Impersonate = a.As
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	if raw, err := loader.RawConfig(); err == nil && a.Context != "" && raw.Contexts[a.Context] == nil {
		return nil, &Error{fmt.Sprintf("there is no context %q in the kubeconfig", a.Context), "`kubectl config get-contexts` lists those there are", nil}
	}
	config, err := loader.ClientConfig()
	switch {
	case err == nil:
		config.UserAgent = "capstan-cli"
		if a.Unattended && config.ExecProvider != nil {
			config.ExecProvider.StdinUnavailable = true
			config.ExecProvider.StdinUnavailableMessage = "nobody can be asked now: log in with kubectl"
		}
		return config, nil
	case errors.Is(err, os.ErrNotExist):
		return nil, &Error{"the kubeconfig " + a.Kubeconfig + " does not exist", "name another with --kubeconfig", err}
	case a.Kubeconfig == "" && missing(rules.Precedence):
		return nil, &Error{"none of the files in KUBECONFIG exists: " + os.Getenv(clientcmd.RecommendedConfigPathEnvVar), "name one that does", err}
	case clientcmd.IsEmptyConfig(err), errors.Is(err, rest.ErrNotInCluster):
		return nil, &Error{
			"no cluster is named, neither by --kubeconfig nor by KUBECONFIG nor by ~/.kube/config, and this is no pod",
			"log in to a cluster, or name a kubeconfig with --kubeconfig", err,
		}
	}
	return nil, unusable(err)
}

func unusable(err error) error {
	return &Error{"the kubeconfig cannot be used: " + err.Error(), "repair it, or name another with --kubeconfig", err}
}

// missing says that KUBECONFIG names files and none of them is there.
func missing(files []string) bool {
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		return false
	}
	return !slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	})
}

// Reader finds the cluster and binds a reader to it; nothing is sent.
func (a *Access) Reader() (*Reader, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	return NewReader(config)
}

// Error is a failure told to a person: what is wrong, and what to do next.
type Error struct {
	What string
	Next string
	Err  error
}

func (e *Error) Error() string {
	if e.Next == "" {
		return e.What
	}
	return e.What + "\n  next: " + e.Next
}

func (e *Error) Unwrap() error { return e.Err }

// Explain makes an error of a request one for a person. verb and object say
// what was asked for, as in "get" and "ClusterAPI cluster".
func Explain(err error, host, verb, object string) error {
	var network net.Error
	var transport *url.Error
	switch {
	case err == nil:
		return nil
	case apierrors.IsUnauthorized(err):
		return &Error{host + " does not accept the credentials", "log in again, or name another kubeconfig or context", err}
	case apierrors.IsForbidden(err):
		return &Error{
			fmt.Sprintf("not allowed to %s %s: %v", verb, object, err),
			fmt.Sprintf("ask for the right to %s it, or use another context", verb), err,
		}
	case NotServed(err):
		return &Error{
			fmt.Sprintf("%s does not know the kind of %s", host, object),
			"this is no OpenShift cluster that has it, its feature gate is closed, or the context is that of another cluster", err,
		}
	case errors.As(err, &transport), errors.As(err, &network):
		return &Error{fmt.Sprintf("%s does not answer: %v", host, root(err)), "check that it runs and can be reached from here", err}
	}
	return &Error{fmt.Sprintf("asking to %s %s: %v", verb, object, err), "", err}
}

// NotServed tells a kind that is not served from an object that does not exist:
// then the API server names no object.
func NotServed(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	if details == nil {
		return true
	}
	for _, cause := range details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return true
		}
	}
	return details.Name == ""
}

// root is the innermost error: what the network said, without the request around it.
func root(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
