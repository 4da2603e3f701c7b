package faults_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	configv1 "github.com/openshift/api/config/v1"
	operatorv1 "github.com/openshift/api/operator/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capstan-capi/capstan/e2e/bootworld"
	"github.com/capstan-capi/capstan/e2e/cluster"
	"github.com/capstan-capi/capstan/e2e/harness"
)

// The states of boot images that other machines do not have.
const (
	upgradingStub = "UpgradingStub"
	cloning       = "Cloning"
	settling      = "Settling"
	inCurrent     = "Current"
	hasFailed     = "Failed"

	gateOff           = "Off"
	waitingForRelease = "WaitingForRelease"
	waitingForConfig  = "WaitingForConfig"
	configOverdue     = "ConfigOverdue"
	waitingForVoucher = "WaitingForVoucher"
	voucherOverdue    = "VoucherOverdue"
)

// bootMetrics are those of the operator that was started last.
var bootMetrics *harness.Metrics

// startBoot starts an operator that moves boot images.
func startBoot() *harness.Operator {
	GinkgoHelper()
	var err error
	bootMetrics, err = env.NewMetrics()
	Expect(err).NotTo(HaveOccurred())
	return operate(harness.OperatorOptions{
		Release: bootVersion(1), Arguments: append(bootMetrics.Arguments(), "--boot-images=MachineAPI,ClusterAPI"),
	})
}

// restartBoot kills the operator, and starts another one.
func restartBoot() {
	GinkgoHelper()
	killAll()
	startBoot()
}

// countedBoot are the states in which there are targets, as the operator counts them.
func countedBoot(ctx context.Context) (states []string, err error) {
	text, err := bootMetrics.Text(ctx)
	for line := range strings.Lines(text) {
		of, number, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.HasPrefix(of, "capstan_boot_image_targets{") || number == "0" {
			continue
		}
		_, of, _ = strings.Cut(of, `state="`)
		state, _, _ := strings.Cut(of, `"`)
		states = append(states, state)
	}
	return states, err
}

// inBoot is nil when the target is in a state.
func inBoot(ctx context.Context, state string) error {
	states, err := countedBoot(ctx)
	if err == nil && !slices.Contains(states, state) {
		err = fmt.Errorf("no target is in %s, and there is one in %q", state, states)
	}
	return err
}

// noTarget is nil when there is none.
func noTarget(ctx context.Context) error {
	states, err := countedBoot(ctx)
	if err == nil && len(states) > 0 {
		err = fmt.Errorf("there is one in %q", states)
	}
	return err
}

// inGate is nil when the gate's stored state is this one.
func inGate(ctx context.Context, state string) error {
	operator := &configv1.ClusterOperator{}
	if err := env.Client.Get(ctx, client.ObjectKey{Name: harness.ClusterOperatorName}, operator); err != nil {
		return err
	}
	var records struct {
		Gate harness.Record `json:"bootgate"`
	}
	if raw := operator.Status.Extension.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &records); err != nil {
			return err
		}
	}
	if records.Gate.State != state {
		return fmt.Errorf("the gate is in %q: %s", records.Gate.State, records.Gate.Reason)
	}
	return nil
}

// tellsBoot is nil when a condition of the MachineConfiguration or of the ClusterOperator has texts, or what commands show of the
// target.
func tellsBoot(ctx context.Context, texts ...string) error {
	var messages []string
	config, operator := &operatorv1.MachineConfiguration{}, &configv1.ClusterOperator{}
	if err := client.IgnoreNotFound(env.Client.Get(ctx, client.ObjectKey{Name: harness.Singleton}, config)); err != nil {
		return err
	}
	for _, c := range config.Status.Conditions {
		messages = append(messages, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	if err := env.Client.Get(ctx, client.ObjectKey{Name: harness.ClusterOperatorName}, operator); err != nil {
		return err
	}
	for _, c := range operator.Status.Conditions {
		messages = append(messages, fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	var extension struct {
		Detail struct {
			Targets []struct{ Name, State, Why string }
		} `json:"bootgateDetail"`
	}
	if raw := operator.Status.Extension.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &extension); err != nil {
			return err
		}
	}
	for _, target := range extension.Detail.Targets {
		messages = append(messages, fmt.Sprintf("target %s in %s: %s", target.Name, target.State, target.Why))
	}
	for _, message := range messages {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(message, text) }) {
			return nil
		}
	}
	return fmt.Errorf("none says %q:\n%s", texts, strings.Join(messages, "\n"))
}

// namedTemplate is the template that the target names, as it is.
func namedTemplate(ctx context.Context) (*unstructured.Unstructured, error) {
	set := bootSet()
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil {
		return nil, err
	}
	name, _, _ := unstructured.NestedString(set.Object, "spec", "template", "spec", "infrastructureRef", "name")
	template := bootTemplate(name, 0)
	return template, env.Client.Get(ctx, client.ObjectKeyFromObject(template), template)
}

// hasImage is nil when the target's machines start from the image of a release.
func hasImage(ctx context.Context, release int) error {
	template, err := namedTemplate(ctx)
	if err != nil {
		return err
	}
	if image, _, _ := unstructured.NestedString(template.Object, "spec", "template", "spec", "ami", "id"); image != bootworld.AMI(release) {
		return fmt.Errorf("%s has %s, and is to have %s", template.GetName(), image, bootworld.AMI(release))
	}
	return nil
}

// clonesOf are the clones of the target, by image.
func clonesOf(ctx context.Context) (map[string][]string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta2")
	list.SetKind("AWSMachineTemplateList")
	err := env.Client.List(ctx, list, client.InNamespace(harness.CAPINamespace), client.HasLabels{"capi-operator.openshift.io/boot-image-clone-of"})
	all := map[string][]string{}
	for i := range list.Items {
		image, _, _ := unstructured.NestedString(list.Items[i].Object, "spec", "template", "spec", "ami", "id")
		all[image] = append(all[image], list.Items[i].GetName())
	}
	return all, err
}

// bootShards are the ConfigMaps with the records of targets.
func bootShards(ctx context.Context) (shards []corev1.ConfigMap, err error) {
	list := &corev1.ConfigMapList{}
	err = env.Client.List(ctx, list, client.InNamespace(harness.OperatorNamespace))
	return slices.DeleteFunc(list.Items, func(c corev1.ConfigMap) bool { return !strings.HasPrefix(c.Name, "capstan-bootimages-") }), err
}

// attemptsOf is how many attempts at the target's last image are stored; those at its stub are counted apart. A ConfigMap that is still
// spoilt from a cell before counts for nothing: the operator writes it again when there is something to write.
func attemptsOf(ctx context.Context) (made int, err error) {
	shards, err := bootShards(ctx)
	for _, shard := range shards {
		for _, packed := range shard.BinaryData {
			if string(packed) == nonsense {
				continue
			}
			content, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				return 0, err
			}
			text, err := io.ReadAll(content)
			if err != nil {
				return 0, err
			}
			entries := map[string]struct {
				Note struct {
					Made int `json:"n"`
				} `json:"note"`
			}{}
			if err := json.Unmarshal(text, &entries); err != nil {
				return 0, err
			}
			made += entries["machinesets.cluster.x-k8s.io/"+worker].Note.Made
		}
	}
	return made, err
}

// taken are the operator's writes since a mark that could have changed boot images and that the API server has taken, by kind.
func taken(ctx context.Context, from cluster.Mark) (map[string]int, cluster.RequestList, error) {
	requests, err := env.Cluster.RequestsSince(ctx, from)
	if err != nil {
		return nil, nil, err
	}
	requests = requests.By(harness.UserAgent).Writes().Where(func(r cluster.Request) bool {
		address, err := url.Parse(r.RequestURI)
		return err == nil && address.Query().Get("fieldManager") == "capstan-bootimage"
	})
	count := map[string]int{}
	for _, r := range requests {
		if r.Code < 300 {
			count[r.Verb+" "+r.Resource]++
		}
	}
	return count, requests, nil
}

// atRest is nil when the target has the image of a release, the gate is open, and all is told so.
func atRest(number int) func(context.Context) error {
	return func(ctx context.Context) error {
		return errors.Join(inGate(ctx, inOpen), inBoot(ctx, inCurrent), hasImage(ctx, number), tellsBoot(ctx, "BootImagesControllerDegraded=False"))
	}
}
