package providers

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/capstan-capi/capstan/deploy"
	"github.com/capstan-capi/capstan/deploy/payload"
)

// statement is what one of a policy allows, as an AWS policy and a
// CredentialsRequest have it.
type statement struct {
	actions   []string
	resource  string
	condition string
}

func TestPayload_asks_for_the_credentials_that_the_provider_publishes(t *testing.T) {
	want, got := published(t), requested(t)
	if len(got) != len(want) {
		t.Fatalf("%d statements, want %d", len(got), len(want))
	}
	for i := range want {
		if slices.Equal(want[i].actions, []string{"iam:PassRole"}) {
			want[i].resource = "*" // OpenShift's roles have other names
		}
		if !slices.Equal(got[i].actions, want[i].actions) || got[i].resource != want[i].resource || got[i].condition != want[i].condition {
			t.Errorf("statement %d is\n%v, want\n%v", i, got[i], want[i])
		}
	}
}

// published is the policy for controllers of the AWS provider without EKS.
func published(t *testing.T) []statement {
	t.Helper()
	all, err := components(ReleaseTwo)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p pinned) bool { return p.Name == AWS })
	folders, err := download(context.Background(), all[i:i+1])
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folders[all[i].module()], "cmd/clusterawsadm/cloudformation/bootstrap/fixtures/with_eks_disable.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources map[string]struct {
			Properties struct {
				PolicyDocument struct {
					Statement []struct {
						Action, Resource []string
						Condition        any
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	var found []statement
	for _, s := range template.Resources["AWSIAMManagedPolicyControllers"].Properties.PolicyDocument.Statement {
		found = append(found, newStatement(t, s.Action, strings.Join(s.Resource, " "), s.Condition))
	}
	return found
}

func requested(t *testing.T) []statement {
	t.Helper()
	files, err := payload.Files()
	if err != nil {
		t.Fatal(err)
	}
	var found []statement
	for name, text := range files {
		if !strings.HasSuffix(name, "_credentials.yaml") {
			continue
		}
		var request struct {
			Spec struct {
				ProviderSpec struct {
					StatementEntries []struct {
						Action          []string
						Resource        string
						PolicyCondition any
					}
				}
			}
		}
		if err := yaml.Unmarshal(text, &request); err != nil {
			t.Fatal(err)
		}
		for _, s := range request.Spec.ProviderSpec.StatementEntries {
			found = append(found, newStatement(t, s.Action, s.Resource, s.PolicyCondition))
		}
	}
	return found
}

func newStatement(t *testing.T, actions []string, resource string, condition any) statement {
	t.Helper()
	text, err := yaml.Marshal(condition)
	if err != nil {
		t.Fatal(err)
	}
	actions = slices.Clone(actions)
	slices.Sort(actions)
	return statement{slices.Compact(actions), resource, string(text)}
}

func TestNetworkPolicies_open_the_ports_of_every_provider(t *testing.T) {
	open := openPorts(t)
	for _, release := range []string{ReleaseTwo, CloudsTwo} {
		profiles, err := Build(t.Context(), Options{Release: release, Dir: "../../bin/providers", ManifestsGen: "../../bin/manifests-gen"})
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range profiles {
			text, err := os.ReadFile(filepath.Join(profile.Folder, "default", "manifests.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for port := range listening(t, text) {
				if !open[port] {
					t.Errorf("%s listens on port %v, and no NetworkPolicy opens it", profile.Component, port)
				}
			}
		}
	}
}

// openPorts are those that are open in the namespace of the providers.
func openPorts(t *testing.T) map[any]bool {
	t.Helper()
	objects, err := deploy.Objects()
	if err != nil {
		t.Fatal(err)
	}
	open := map[any]bool{}
	for _, object := range objects {
		if object.GetKind() != "NetworkPolicy" || object.GetNamespace() != "openshift-cluster-api" {
			continue
		}
		spec, _ := object.Object["spec"].(map[string]any)
		rules, _ := spec["ingress"].([]any)
		for _, rule := range rules {
			ports, _ := rule.(map[string]any)["ports"].([]any)
			for _, port := range ports {
				open[port.(map[string]any)["port"]] = true
			}
		}
	}
	return open
}

// listening are the ports of containers but those of probes, which come from the node.
func listening(t *testing.T, manifests []byte) map[any]bool {
	t.Helper()
	objects, err := deploy.Parse(manifests)
	if err != nil {
		t.Fatal(err)
	}
	ports := map[any]bool{}
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		spec, _ := object.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		for _, container := range spec["containers"].([]any) {
			fields := container.(map[string]any)
			list, _ := fields["ports"].([]any)
			for _, port := range list {
				ports[port.(map[string]any)["containerPort"]] = true
			}
		}
	}
	delete(ports, int64(9440)) // the port of probes of everything that is made with kubebuilder
	return ports
}
