package capstanprovider_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ended is what a command has left.
type ended struct {
	code      int
	out, errs string
}

// at adds where the management plane is.
func at(arguments ...string) []string { return append(arguments, "--kubeconfig="+plane.Kubeconfig()) }

// run runs the binary until it ends.
func run(ctx context.Context, in string, arguments ...string) ended {
	GinkgoHelper()
	var out, errs bytes.Buffer
	command := exec.CommandContext(ctx, filepath.Join(bin, "capstan-provider"), arguments...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(in), &out, &errs
	code := 0
	if err := command.Run(); err != nil {
		var exit *exec.ExitError
		Expect(errors.As(err, &exit)).To(BeTrue(), "%v", err)
		code = exit.ExitCode()
	}
	return ended{code, out.String(), errs.String()}
}

// watching is a command whose lines can be waited for.
type watching struct {
	lines chan string
	ended chan ended
}

// start runs the binary beside the spec.
func start(ctx context.Context, arguments ...string) *watching {
	GinkgoHelper()
	command := exec.CommandContext(ctx, filepath.Join(bin, "capstan-provider"), arguments...)
	reader, writer := io.Pipe()
	var errs bytes.Buffer
	command.Stdout, command.Stderr = writer, &errs
	Expect(command.Start()).To(Succeed())
	w := &watching{lines: make(chan string, 1000), ended: make(chan ended, 1)}
	read := make(chan string)
	go func() {
		var all strings.Builder
		for scanner := bufio.NewScanner(reader); scanner.Scan(); {
			all.WriteString(scanner.Text() + "\n")
			w.lines <- scanner.Text()
		}
		read <- all.String()
	}()
	go func() {
		err := command.Wait()
		writer.Close()
		code := 0
		if exit, is := errors.AsType[*exec.ExitError](err); is {
			code = exit.ExitCode()
		}
		w.ended <- ended{code, <-read, errs.String()}
	}()
	return w
}

// says waits for a line that has all of these.
func (w *watching) says(ctx context.Context, parts ...string) string {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var before []string
	for {
		select {
		case line := <-w.lines:
			missing := false
			for _, part := range parts {
				missing = missing || !strings.Contains(line, part)
			}
			if !missing {
				return line
			}
			before = append(before, line)
		case <-ctx.Done():
			Fail("no line has all of " + strings.Join(parts, ", ") + ", only\n" + strings.Join(before, "\n"))
		}
	}
}

// ends waits for the end.
func (w *watching) ends(ctx context.Context) ended {
	GinkgoHelper()
	select {
	case e := <-w.ended:
		return e
	case <-ctx.Done():
		Fail("it does not end")
		return ended{}
	}
}

// create makes objects of an install-config in testdata, in a namespace.
func create(ctx context.Context, file, namespace string, more ...string) ended {
	GinkgoHelper()
	return run(ctx, "", append([]string{"create", "--install-config=testdata/" + file, "--namespace=" + namespace, "--release-image=" + release}, more...)...)
}

// release is an image by its digest.
var release = "registry.example.com/release@sha256:" + strings.Repeat("0", 64)

// Kinds, by their resources.
var (
	controlPlanes      = kind("cluster.openshift.io", "v1alpha1", "openshiftcontrolplanes")
	clusters           = kind("cluster.x-k8s.io", "v1beta2", "clusters")
	machines           = kind("cluster.x-k8s.io", "v1beta2", "machines")
	machineDeployments = kind("cluster.x-k8s.io", "v1beta2", "machinedeployments")
	awsClusters        = kind("infrastructure.cluster.x-k8s.io", "v1beta2", "awsclusters")
	secrets            = kind("", "v1", "secrets")
)

func kind(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

func get(ctx context.Context, of schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	GinkgoHelper()
	object, err := client.Resource(of).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	return object
}

// patch changes an object as somebody else, or its status as the provider does.
func patch(ctx context.Context, of schema.GroupVersionResource, namespace, name string, change map[string]any, subresources ...string) {
	GinkgoHelper()
	text, err := json.Marshal(change)
	Expect(err).NotTo(HaveOccurred())
	_, err = client.Resource(of).Namespace(namespace).Patch(ctx, name, types.MergePatchType, text, metav1.PatchOptions{FieldManager: "somebody-else"}, subresources...)
	Expect(err).NotTo(HaveOccurred())
}

// state has the status say where the machine stands, and by which state it came there.
func state(ctx context.Context, namespace, name, state, from string, more map[string]any) {
	GinkgoHelper()
	status := map[string]any{
		"state": state, "since": "2026-01-02T03:04:05Z",
		"machine": map[string]any{"state": state, "since": "2026-01-02T03:04:05Z", "cameFrom": from, "progress": map[string]any{"done": 0, "since": "2026-01-02T03:04:05Z"}, "entry": map[string]any{"done": 0}},
	}
	for name, value := range more {
		status[name] = value
	}
	patch(ctx, controlPlanes, namespace, name, map[string]any{"status": status}, "status")
}

func condition(name, status, reason, message string) map[string]any {
	return map[string]any{"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-02T03:04:05Z"}
}
