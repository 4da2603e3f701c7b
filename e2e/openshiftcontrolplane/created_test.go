package openshiftcontrolplane_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/capiworld"
)

var _ = Describe("What capstan-provider create makes for machines in memory", func() {
	It("is installed as it is applied", Label(long), func(ctx SpecContext) {
		image, err := world.Release(ctx, release)
		Expect(err).NotTo(HaveOccurred())
		key := newKey(ctx)
		config := filepath.Join(GinkgoT().TempDir(), "install-config.yaml")
		Expect(os.WriteFile(config, []byte(capiworld.InstallConfig(key.Name, 1)), 0o600)).To(Succeed())
		program := filepath.Join(bin, "capstan-provider")
		objects, err := exec.CommandContext(ctx, program, "create", "--install-config="+config, "--release-image="+image,
			"--namespace="+key.Namespace, "--infrastructure=dev").Output()
		Expect(err).NotTo(HaveOccurred())
		apply := exec.CommandContext(ctx, program, "apply", "--file=-", "--kubeconfig="+world.Cluster.Kubeconfig())
		apply.Stdin = bytes.NewReader(objects)
		told, err := apply.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(told))

		stands(ctx, key, "Installed")
	}, SpecTimeout(2*patience))
})
