//go:build page

package page_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capstan-capi/capstan/e2e/harness"
)

var _ = Describe("The page", func() {
	It("shows seven clusters as they change, and answers, although a browser opens six connections to a server", func(ctx SpecContext) {
		install(ctx)
		_, address := look(fleet...)
		t := newTab()
		t.open(address)
		all := func(state string) {
			GinkgoHelper()
			Eventually(func() []string { return t.texts(`.contexts button`) }).WithTimeout(patience).Should(And(HaveLen(len(fleet)), HaveEach(HaveSuffix(state))))
		}
		all("Installed")
		Expect(t.asks("/api/watch")).To(Equal(1))

		By("asking on behalf of each")
		for _, one := range fleet {
			t.click(`.contexts button`, one)
			Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
			t.click(tabs, "History")
			t.sees(panel, "4.22.0", "Cause")
			t.click(tabs, "Objects")
			t.sees(panel, "ConfigMap openshift-cluster-api/alpha")
		}

		By("changing")
		capstan(ctx, "pause", "--for", "1h", "--reason", "maintenance", "--yes")
		all("Paused")
		Expect(t.asks("/api/watch")).To(Equal(1))
		Expect(t.complaints()).To(BeEmpty())

		keepsItsToken(t, address)
	})

	It("shows what changes to a viewer who may get what it watches, and not watch it", func(ctx SpecContext) {
		install(ctx)
		mayGet(ctx, getter)
		_, address := look(getter)
		t := newTab()
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		t.sees(`header .live`, "live, by asking again and again")
		t.sees(panel, "Revision 1", "installed")

		By("changing, there and back")
		capstan(ctx, "pause", "--for", "1h", "--reason", "maintenance", "--yes")
		Eventually(func() string { return t.text(live) }).WithTimeout(patience).Should(Equal("Paused"))
		t.click(tabs, "Acts")
		t.sees(panel, "pause", "maintenance", "capstan resume")
		capstan(ctx, "resume", "--yes")
		Eventually(func() string { return t.text(live) }).WithTimeout(patience).Should(Equal("Installed"))
		Expect(t.text(trouble)).To(BeEmpty())

		By("telling what may not be read")
		t.click(tabs, "Conditions")
		t.sees(panel, "CompatibilityRequirements", "list")
		t.click(`.machines button`, "compatibility")
		t.sees(`main`, "CompatibilityRequirements", "list")
		Expect(t.complaints()).To(BeEmpty())
	})
})

var _ = Describe("A login", func() {
	It("that has expired is told, with what to do, and the page goes on by itself after the next one", func(ctx SpecContext) {
		install(ctx)
		mayGet(ctx, "system:serviceaccount:default:"+account)
		path := kubeconfig()
		logIn(ctx, path)
		_, address := lookBy(path, account)
		t := newTab()
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		Expect(t.text(trouble)).To(BeEmpty())

		By("ending the account, with which its token expires")
		Expect(env.Client.Delete(ctx, anAccount())).To(Succeed())
		Eventually(func() string { return t.text(trouble) }).WithTimeout(patience).Should(And(ContainSubstring("does not accept the credentials"), ContainSubstring("log in again")))
		Expect(t.text(live)).To(Equal("Installed"), "what was seen last")
		t.sees(`header .live`, "old")

		By("logging in again")
		logIn(ctx, path)
		Eventually(func() string { return t.text(trouble) }).WithTimeout(patience).Should(BeEmpty())
		t.sees(`header .live`, "live")
		keepsItsToken(t, address)
		Expect(t.complaints()).To(BeEmpty())
	})
})

func anAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account}}
}

// logIn makes the account, and has a kubeconfig's context of that name use a token of it.
func logIn(ctx context.Context, path string) {
	GinkgoHelper()
	made, token := anAccount(), &authenticationv1.TokenRequest{}
	Expect(env.Client.Create(ctx, made)).To(Succeed())
	Expect(env.Client.SubResource("token").Create(ctx, made, token)).To(Succeed())
	config, err := clientcmd.LoadFromFile(path)
	Expect(err).NotTo(HaveOccurred())
	config.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	config.Contexts[account] = &clientcmdapi.Context{Cluster: config.Contexts[prod].Cluster, AuthInfo: account}
	Expect(clientcmd.WriteToFile(*config, path)).To(Succeed())
}

// asks counts the requests for a path.
func (t *tab) asks(path string) (count int) {
	for _, request := range t.requests() {
		if strings.HasSuffix(request.URL, path) {
			count++
		}
	}
	return count
}

// mayGet lets a user get what the page watches, and do nothing else.
func mayGet(ctx context.Context, user string) {
	GinkgoHelper()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"operator.openshift.io"}, Resources: []string{"clusterapis"}, ResourceNames: []string{harness.Singleton}, Verbs: []string{"get"}},
		{APIGroups: []string{"config.openshift.io"}, Resources: []string{"clusteroperators"}, ResourceNames: []string{harness.ClusterOperatorName}, Verbs: []string{"get"}},
		{APIGroups: []string{"apiextensions.openshift.io"}, Resources: []string{"compatibilityrequirements"}, Verbs: []string{"get"}},
	}
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: user}, Rules: rules})).To(Succeed())
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: user},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})).To(Succeed())
}
