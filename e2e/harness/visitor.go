package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Visitor is somebody who asks for metrics.
type Visitor struct {
	// Access has the certificate, nil for none; Token is sent unless it is empty.
	Access *rest.Config
	Token  string
	// Speaks is the highest version of TLS, zero for any.
	Speaks uint16
}

// Answer is what a visitor gets.
type Answer struct {
	Status int
	Text   string
	TLS    *tls.ConnectionState
}

// Ask asks over a connection of its own; an error says that there was none.
func (m *Metrics) Ask(ctx context.Context, v Visitor) (Answer, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(m.roots)
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: m.host, MinVersion: tls.VersionTLS10, MaxVersion: v.Speaks, //nolint:gosec // The operator is to refuse it.
	}}
	if v.Access != nil {
		certificate, err := tls.X509KeyPair(v.Access.CertData, v.Access.KeyData)
		if err != nil {
			return Answer{}, fmt.Errorf("reading the certificate of a visitor: %w", err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{certificate}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+m.address+"/metrics", http.NoBody)
	if err != nil {
		return Answer{}, fmt.Errorf("asking for metrics: %w", err)
	}
	if v.Token != "" {
		request.Header.Set("Authorization", "Bearer "+v.Token)
	}
	response, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Do(request)
	if err != nil {
		return Answer{}, fmt.Errorf("asking for metrics: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return Answer{}, fmt.Errorf("reading metrics: %w", err)
	}
	return Answer{Status: response.StatusCode, Text: string(text), TLS: response.TLS}, nil
}

// Answers is nil when a visitor gets an answer of that status; one who may not read metrics must be told none.
func (m *Metrics) Answers(ctx context.Context, v Visitor, status int) error {
	answer, err := m.Ask(ctx, v)
	if err == nil && answer.Status != status {
		err = fmt.Errorf("the answer is %d, want %d", answer.Status, status)
	}
	if err == nil && status != http.StatusOK && strings.Contains(answer.Text, "capstan_") {
		err = errors.New("metrics are told to who may not read them")
	}
	return err
}

// visitorsNamespace is where the accounts of visitors are.
const visitorsNamespace = "default"

// Token is one of a new ServiceAccount without rights.
func (e *Environment) Token(ctx context.Context, account string) (string, error) {
	made := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: visitorsNamespace, Name: account}}
	if err := e.Client.Create(ctx, made, Administrator); err != nil {
		return "", fmt.Errorf("creating ServiceAccount %s: %w", account, err)
	}
	request := &authenticationv1.TokenRequest{}
	if err := e.Client.SubResource("token").Create(ctx, made, request); err != nil {
		return "", fmt.Errorf("asking for a token of ServiceAccount %s: %w", account, err)
	}
	return request.Status.Token, nil
}

// LetScrape gives an account of Token the right to read metrics.
func (e *Environment) LetScrape(ctx context.Context, account string) error {
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	if err := e.Client.Create(ctx, role, Administrator); err != nil {
		return fmt.Errorf("creating ClusterRole %s: %w", account, err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: account},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: visitorsNamespace, Name: account}},
	}
	if err := e.Client.Create(ctx, binding, Administrator); err != nil {
		return fmt.Errorf("creating ClusterRoleBinding %s: %w", account, err)
	}
	return nil
}
