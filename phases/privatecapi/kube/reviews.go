package kube

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

// May asks the API server whether an account may do something; an empty one is the operator's own.
func (c *Client) May(ctx context.Context, account, verb string, k phases.Kind, namespace string) (bool, error) {
	attributes := &authorizationv1.ResourceAttributes{Verb: verb, Group: k.Group, Version: k.Version(), Resource: k.Resource}
	if k.Namespaced {
		attributes.Namespace = namespace
	} else {
		attributes.Name = namespace
	}
	if account == "" {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: attributes}}
		got, err := c.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("asking whether the operator may %s %s: %w", verb, k.Resource, err)
		}
		return got.Status.Allowed, nil
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: attributes, User: account, Groups: groupsOf(account),
	}}
	got, err := c.typed.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking whether %s may %s %s: %w", account, verb, k.Resource, err)
	}
	return got.Status.Allowed, nil
}

// MayBecome asks the API server whether the operator may speak as a service account.
func (c *Client) MayBecome(ctx context.Context, account string) (bool, error) {
	parts := strings.Split(account, ":")
	if len(parts) != 4 {
		return false, fmt.Errorf("%q is no service account", account)
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "impersonate", Version: "v1", Resource: "serviceaccounts", Namespace: parts[2], Name: parts[3]},
	}}
	got, err := c.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("asking whether the operator may speak as %s: %w", account, err)
	}
	return got.Status.Allowed, nil
}

// groupsOf are the groups that every service account is in.
func groupsOf(account string) []string {
	groups := []string{"system:authenticated"}
	if parts := strings.Split(account, ":"); len(parts) == 4 {
		groups = append(groups, "system:serviceaccounts", "system:serviceaccounts:"+parts[2])
	}
	return groups
}
