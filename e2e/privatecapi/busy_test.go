package privatecapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// busy is a user for whom the API server has room for one request at a time.
const busy = "busy"

func createBusy(ctx context.Context) {
	GinkgoHelper()
	flows := stored.typed.FlowcontrolV1()
	_, err := flows.PriorityLevelConfigurations().Create(ctx, &flowcontrolv1.PriorityLevelConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: busy},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{Type: flowcontrolv1.PriorityLevelEnablementLimited, Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
			NominalConcurrencyShares: ptr.To[int32](0), LendablePercent: ptr.To[int32](0), BorrowingLimitPercent: ptr.To[int32](0),
			LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
		}},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = flows.FlowSchemas().Create(ctx, &flowcontrolv1.FlowSchema{
		ObjectMeta: metav1.ObjectMeta{Name: busy},
		Spec: flowcontrolv1.FlowSchemaSpec{
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: busy}, MatchingPrecedence: 2,
			Rules: []flowcontrolv1.PolicyRulesWithSubjects{{
				Subjects: []flowcontrolv1.Subject{{Kind: flowcontrolv1.SubjectKindUser, User: &flowcontrolv1.UserSubject{Name: busy}}},
				ResourceRules: []flowcontrolv1.ResourcePolicyRule{{
					Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}, ClusterScope: true, Namespaces: []string{"*"},
				}},
			}},
		},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
	_, err = stored.typed.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: busy}, Subjects: []rbacv1.Subject{{Kind: "User", Name: busy}},
		RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "cluster-admin"},
	}, metav1.CreateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// occupy has a request under way whose body does not end, which takes all the room that there is.
func occupy(ctx context.Context, by *http.Client, host string) {
	GinkgoHelper()
	body, more := io.Pipe()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, host+"/apis/"+private+"/"+version+"/namespaces/default/machines", body)
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		response, err := by.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		ended <- err
	}()
	DeferCleanup(func() {
		Expect(more.Close()).To(Succeed())
		Eventually(ended, patience).Should(Receive())
	})
}

var _ = Describe("An API server that has no room", func() {
	It("has a client wait for as long as it says itself", func(ctx SpecContext) {
		createBusy(ctx)
		own := startProxy(ctx, kubeconfigFor(busy))
		config, err := plane.ConfigFor(busy)
		Expect(err).NotTo(HaveOccurred())
		direct, err := rest.HTTPClientFor(config)
		Expect(err).NotTo(HaveOccurred())
		occupy(ctx, direct, config.Host)
		var after string
		eventually(ctx, "the API server to have no room", func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/apis/"+private+"/"+version+"/machines", http.NoBody)
			if err != nil {
				return err
			}
			response, err := direct.Do(request)
			if err != nil {
				return err
			}
			after = response.Header.Get("Retry-After")
			return unless(response.Body.Close() == nil && response.StatusCode == http.StatusTooManyRequests && after != "", fmt.Sprint(response.StatusCode, response.Header))
		})
		for method, body := range map[string]string{
			http.MethodGet: "", http.MethodDelete: "",
			http.MethodPost: `{"apiVersion":"` + standard + `/` + version + `","kind":"Machine","metadata":{"name":"m","namespace":"default"},"spec":` + machineSpec + `}`,
		} {
			code, text, header, err := own.send(ctx, method, "/apis/"+standard+"/"+version+"/namespaces/default/machines", body, map[string]string{"Content-Type": "application/json"})
			Expect(err).NotTo(HaveOccurred())
			Expect(code).To(Equal(http.StatusTooManyRequests), text)
			Expect(header.Get("Retry-After")).To(Equal(after), method)
		}
	})
})
