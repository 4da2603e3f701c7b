//go:build page

package page_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// The contexts of the viewer's kubeconfig. Those of the fleet are prod under other names.
const (
	prod   = "prod"
	hangs  = "stage"
	getter = "getter"
	// account is a ServiceAccount by whose token somebody is logged in.
	account = "account"
)

var fleet = []string{"fleet-1", "fleet-2", "fleet-3", "fleet-4", "fleet-5", "fleet-6", "fleet-7"}

// address is what the command prints: its own, and the code of a session in the fragment.
var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/#code=\S+`)

// dashboard is a running command.
type dashboard struct {
	process *cluster.Process
	log     string
}

// started is how many commands there were, for the names of their logs.
var started int

// look starts the command with some contexts, and ends it with the spec. Its address can be opened once.
func look(contexts ...string) (*dashboard, string) {
	GinkgoHelper()
	return lookBy(kubeconfig(), contexts...)
}

// lookBy does so by a kubeconfig.
func lookBy(kubeconfig string, contexts ...string) (*dashboard, string) {
	GinkgoHelper()
	started++
	d := &dashboard{log: filepath.Join(env.Cluster.Dir(), fmt.Sprintf("dashboard-%d.log", started))}
	binary, err := filepath.Abs(filepath.Join(bin, "capstan"))
	Expect(err).NotTo(HaveOccurred())
	command := []string{binary, "dashboard", "--kubeconfig", kubeconfig}
	for _, one := range contexts {
		command = append(command, "--context", one)
	}
	d.process, err = env.Cluster.Spawn("the dashboard", d.log, command...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() {
		if CurrentSpecReport().Failed() {
			GinkgoWriter.Println(d.said())
		}
		Expect(d.process.Stop(5 * time.Second)).To(Succeed())
	})
	var found string
	Eventually(func() string {
		found = address.FindString(d.said())
		return found
	}).ShouldNot(BeEmpty(), d.said)
	return d, found
}

// said is all that the command has printed.
func (d *dashboard) said() string {
	text, err := os.ReadFile(d.log)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// origin is an address without its fragment.
func origin(address string) string {
	GinkgoHelper()
	parsed, err := url.Parse(address)
	Expect(err).NotTo(HaveOccurred())
	return parsed.Scheme + "://" + parsed.Host + "/"
}

// kubeconfig writes one with contexts for the cluster, of an administrator and of the user getter, and one for an API server that takes
// connections and never answers.
func kubeconfig() string {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(listener.Close)
	config, err := clientcmd.LoadFromFile(env.Cluster.Kubeconfig())
	Expect(err).NotTo(HaveOccurred())
	config.Contexts[prod] = config.Contexts[config.CurrentContext]
	config.Clusters[hangs] = &clientcmdapi.Cluster{Server: "http://" + listener.Addr().String()}
	config.Contexts[hangs] = &clientcmdapi.Context{Cluster: hangs}
	for _, one := range fleet {
		config.Contexts[one] = config.Contexts[prod]
	}
	path, err := env.Cluster.KubeconfigFor(getter)
	Expect(err).NotTo(HaveOccurred())
	theirs, err := clientcmd.LoadFromFile(path)
	Expect(err).NotTo(HaveOccurred())
	user := theirs.Contexts[theirs.CurrentContext].AuthInfo
	config.AuthInfos[getter] = theirs.AuthInfos[user]
	config.Contexts[getter] = &clientcmdapi.Context{Cluster: config.Contexts[prod].Cluster, AuthInfo: getter}
	config.CurrentContext = prod
	path = filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(*config, path)).To(Succeed())
	return path
}
