package bootimages_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"

	"github.com/capstan-capi/capstan/e2e/harness"
)

const (
	// richStub is an old one to which an administrator has added a partition for /var, and more.
	richStub = `{"ignition":{"version":"2.2.0","config":{"append":[{"source":"https://api-int.shop:22623/config/worker"}]},
	  "security":{"tls":{"certificateAuthorities":[{"source":"data:,authority"}]}}},
	  "passwd":{"users":[{"name":"core","sshAuthorizedKeys":["ssh-ed25519 key"]}]},
	  "storage":{"disks":[{"device":"/dev/nvme0n1","partitions":[{"label":"var","start":20480000}]}],
	    "filesystems":[{"name":"var","mount":{"device":"/dev/disk/by-partlabel/var","format":"xfs"}}],
	    "files":[{"filesystem":"root","path":"/etc/motd","mode":420,"contents":{"source":"data:,hello"}}]},
	  "systemd":{"units":[{"name":"var.mount","enabled":true,
	    "contents":"[Unit]\nBefore=local-fs.target\n[Mount]\nWhat=/dev/disk/by-partlabel/var\nWhere=/var\nType=xfs\n[Install]\nWantedBy=local-fs.target\n"}]}}`
	// oddStub is an old one with a file on a file system of which nothing tells where it is mounted.
	oddStub = `{"ignition":{"version":"2.2.0"},"storage":{"filesystems":[{"name":"data","mount":{"device":"/dev/sdb","format":"xfs"}}],
	  "files":[{"filesystem":"data","path":"/a","mode":420,"contents":{"source":"data:,a"}}]}}`
)

// upgradedTo is on stubs that the operator has upgraded.
const upgradedTo = "machineconfiguration.openshift.io/stub-ignition-upgraded-to"

// userData is the Secret that all sets of the Machine API start from.
func userData() *object {
	return parse(`{apiVersion: v1, kind: Secret, metadata: {name: worker-user-data, namespace: openshift-machine-api}}`)
}

// starts makes a Secret hold a stub.
func starts(ctx context.Context, from string) *object {
	GinkgoHelper()
	secret := userData()
	Expect(merge(ctx, secret, "data: {userData: %s}", base64.StdEncoding.EncodeToString([]byte(from)))).To(Succeed())
	return secret
}

// converted waits until the stub is of spec 3, and returns it.
func converted(ctx context.Context) *object {
	GinkgoHelper()
	config := &object{}
	eventually(ctx, "the stub to be of spec 3", func(ctx context.Context) error {
		text, err := base64.StdEncoding.DecodeString(fmt.Sprint(field(live(ctx, userData()), "data.userData")))
		if err != nil {
			return err
		}
		config.Object = nil
		if err := json.Unmarshal(text, &config.Object); err != nil {
			return err
		}
		return unless(field(config, "ignition.version") == "3.1.0", "it is of %v", field(config, "ignition.version"))
	})
	return config
}

// trusting lets the administrator say which images are a release's own.
func trusting(ctx context.Context, images ...string) {
	GinkgoHelper()
	text := "# images of the past\n"
	for _, image := range images {
		text += image + "\n"
	}
	configMap(ctx, harness.OperatorNamespace, "boot-images-trusted", map[string]string{"images": text})
}

var _ = Describe("An old stub", func() {
	It("is converted with all that is in it, by one write for a hundred sets", func(ctx SpecContext) {
		const many = 100
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		starts(ctx, richStub)
		trusting(ctx, ami(0))
		var sets []*object
		for i := range many {
			sets = append(sets, create(ctx, machineSet(fmt.Sprintf("worker-%d", i), onAWS(ami(0)))))
		}
		s.operate(ctx, both)
		s.targets(ctx, "Current", many)
		for _, set := range sets {
			becomes(ctx, set, amiID, ami(1))
		}
		s.writtenOnce(ctx, userData())
		Expect(s.writes(ctx)).To(HaveLen(many + 1))

		config := converted(ctx)
		for path, value := range map[string]any{
			"ignition.config.merge.0.source":                        "https://api-int.shop:22623/config/worker",
			"ignition.security.tls.certificateAuthorities.0.source": "data:,authority",
			"passwd.users.0.sshAuthorizedKeys.0":                    "ssh-ed25519 key",
			"storage.disks.0.device":                                "/dev/nvme0n1",
			"storage.disks.0.partitions.0.label":                    "var",
			"storage.filesystems.0.device":                          "/dev/disk/by-partlabel/var",
			"storage.filesystems.0.format":                          "xfs",
			"storage.filesystems.0.path":                            "/var",
			"storage.files.0.path":                                  "/etc/motd",
			"storage.files.0.contents.source":                       "data:,hello",
			"systemd.units.0.name":                                  "var.mount",
			"systemd.units.0.enabled":                               true,
		} {
			Expect(field(config, path)).To(Equal(value), path)
		}
		Expect(field(config, "systemd.units.0.contents")).To(ContainSubstring("Where=/var"))
		secret := live(ctx, userData())
		Expect(secret.GetAnnotations()).To(HaveKeyWithValue(upgradedTo, "3.1.0"))
		Expect(field(secret, "data.disableTemplating")).NotTo(BeNil())
	})

	It("is told of in an Event when it was converted", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		starts(ctx, oldStub)
		set := create(ctx, machineSet("worker", onAWS(ami(1))))
		s.operate(ctx, both)
		converted(ctx)
		s.targets(ctx, "Current", 1)
		untouched(ctx, set)
		eventOn(ctx, set, "worker-user-data")
	})

	It("that cannot be converted is left alone with the template, and so is told; another stub heals", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		secret := starts(ctx, oddStub)
		trusting(ctx, ami(0))
		set := create(ctx, machineSet("worker", onAWS(ami(0))))
		s.operate(ctx, both)
		s.targets(ctx, "Failed", 1)
		told(ctx, updateDegraded, "True", "worker", "storage.filesystems")
		s.advance(3 * time.Minute)
		told(ctx, updateDegraded, "True", "worker")
		untouched(ctx, secret)
		untouched(ctx, set)
		s.nothingWritten(ctx)
		starts(ctx, stub)
		becomes(ctx, set, amiID, ami(1))
		told(ctx, updateDegraded, "False")
	})

	It("that a set needs which stays is left alone with the template, and the set is named", func(ctx SpecContext) {
		s := on(ctx, inPlace{platform: configv1.AWSPlatformType})
		secret := starts(ctx, oldStub)
		trusting(ctx, ami(0))
		set := create(ctx, machineSet("moves", onAWS(ami(0))))
		stays := create(ctx, machineSet("stays", onAWS("ami-0123456789abcdef0")))
		s.operate(ctx, both)
		s.targets(ctx, "Failed", 1)
		s.targets(ctx, "Skipped", 1)
		told(ctx, updateDegraded, "True", "moves", "stays")
		eventOn(ctx, set, "Failed: ")
		eventOn(ctx, set, "StubShared")
		untouched(ctx, secret)
		untouched(ctx, set)
		s.nothingWritten(ctx)
		annotate(ctx, stays, adopt, "ami-0123456789abcdef0")
		becomes(ctx, stays, amiID, ami(1))
		s.advance(3 * time.Minute)
		becomes(ctx, set, amiID, ami(1))
		converted(ctx)
		s.writtenOnce(ctx, secret)
	})
})
