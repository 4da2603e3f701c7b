package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// commands are those of kubectl and oc, up to where another one begins or it is prose again.
	commands = regexp.MustCompile("\\b(?:kubectl|oc) [^`|;)&\n]+")
	// defining are group, plural and singular of a definition.
	defining = regexp.MustCompile(`(?m)^  group: (\S+)\n  names:\n(?:    .*\n)*?    plural: (\S+)\n(?:    .*\n)*?    singular: (\S+)$`)
	// asking are their verbs that are followed by kinds.
	asking = []string{"get", "describe", "delete", "patch", "annotate", "label", "edit", "scale", "wait"}
	// valued are flags that are followed by a value of their own.
	valued = []string{"-n", "-l", "-o", "-L", "-f", "-k", "-p", "--kubeconfig", "--context", "--for"}
)

// kindsIn are the words of a command that name kinds, empty where it names none.
func kindsIn(command string) []string {
	words := strings.Fields(command)[1:]
	asks := false
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], `"'`)
		switch {
		case slices.Contains(valued, word):
			i++
		case strings.HasPrefix(word, "-"):
		case !asks && !slices.Contains(asking, word):
			return nil
		case !asks:
			asks = true
		default:
			var kinds []string
			for kind := range strings.SplitSeq(word, ",") {
				kind, _, _ = strings.Cut(kind, "/")
				kinds = append(kinds, strings.ToLower(kind))
			}
			return kinds
		}
	}
	return nil
}

// twofold are the kinds that several groups have once there are private types, by the names that people type.
func twofold(t *testing.T) map[string]string {
	t.Helper()
	groups := map[string]string{}
	for _, prefix := range []string{"aws", "dev"} { // the pages name two providers
		for _, kind := range []string{"cluster", "machine", "machinetemplate", "machinepool"} {
			groups[prefix+kind], groups[prefix+kind+"s"] = "infrastructure.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"
		}
	}
	for _, definition := range defining.FindAllStringSubmatch(read(t, "deploy/privatecapi/crds.yaml"), -1) {
		standard := strings.Replace(definition[1], "cluster.hypershift.openshift.io", "cluster.x-k8s.io", 1)
		groups[definition[2]], groups[definition[3]] = standard, standard
	}
	if len(groups) < 26 {
		t.Fatalf("only %d names were found", len(groups))
	}
	return groups
}

// With private types in the cluster kubectl takes a kind without a group for the private one, whose group comes first by name.
func TestPages_name_kinds_of_Cluster_API_with_their_group(t *testing.T) {
	groups, count := twofold(t), 0
	for _, page := range filesOf(t, ".md") {
		for _, command := range commands.FindAllString(read(t, page), -1) {
			for _, kind := range kindsIn(command) {
				count++
				if group := groups[kind]; group != "" {
					t.Errorf("%s: %q names %s without its group, %s", page, command, kind, group)
				}
			}
		}
	}
	if count < 80 {
		t.Errorf("only %d kinds were found", count)
	}
}
