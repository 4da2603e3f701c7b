package render

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// coreAndAWS is an input of the size and shape of core and AWS: 56 objects in
// 2.4 MB of YAML, most of it schemas in 36 CustomResourceDefinitions.
func coreAndAWS() Input {
	in := Input{Platform: "AWS", Substitutions: map[string]string{"AWS_CONTROLLER_IAM_ROLE": "arn:aws:iam::1:role/r"}}
	for _, p := range []struct {
		name       string
		crds, rest int
	}{{"core", 12, 11}, {"aws", 24, 9}} {
		var text strings.Builder
		for i := range p.crds {
			name := fmt.Sprintf("%s%ds.example.com", p.name, i)
			fmt.Fprintf(&text, "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  creationTimestamp: null\n  name: %s\nspec:\n  versions:\n", name)
			for v := range 2 {
				fmt.Fprintf(&text, "  - name: v1beta%d\n    served: true\n    storage: %v\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n", v, v == 0)
				writeSchema(&text, 10, 2)
			}
		}
		for i := range p.rest {
			fmt.Fprintf(&text, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: %s-%d\n  namespace: capi\nspec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        image: quay.io/self\n        args:\n", p.name, i)
			for a := range 12 {
				fmt.Fprintf(&text, "        - --flag-%d=A=${CAPA_A:=true},B=${CAPA_B:=:8443}\n", a)
			}
		}
		in.Profiles = append(in.Profiles, Profile{
			Image: image(p.name), Name: "default",
			Metadata: []byte("name: " + p.name + "\nselfImageRef: quay.io/self\n"), Manifests: []byte(text.String()),
		})
	}
	return in
}

// writeSchema writes properties with descriptions, depth levels deep.
func writeSchema(text *strings.Builder, indent, depth int) {
	pad := strings.Repeat(" ", indent)
	for i := range 4 {
		fmt.Fprintf(text, "%sproperty%d:\n%s  description: |-\n%s    The property %d says how the machine's network interfaces are attached, and\n%s    it is ignored unless the $(VAR_NAME) before it asks for them with $$.\n", pad, i, pad, pad, i, pad)
		switch depth {
		case 0:
			fmt.Fprintf(text, "%s  maxLength: 253\n%s  minLength: 1\n%s  pattern: ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$\n%s  type: string\n", pad, pad, pad, pad)
		default:
			fmt.Fprintf(text, "%s  type: object\n%s  required:\n%s  - property0\n%s  properties:\n", pad, pad, pad, pad)
			writeSchema(text, indent+4, depth-1)
		}
	}
}

var realProfiles = flag.String("profiles", "", "folders of images, separated by commas, to benchmark with instead of made-up ones: each has folders of profiles")

// benchmarked is what -profiles names, or else made up.
func benchmarked(b *testing.B) Input {
	b.Helper()
	if *realProfiles == "" {
		return coreAndAWS()
	}
	in := Input{Platform: "AWS", Substitutions: map[string]string{"EXP_BOOTSTRAP_FORMAT_IGNITION": "true"}}
	for i, folder := range strings.Split(*realProfiles, ",") {
		metadata, err := filepath.Glob(filepath.Join(folder, "*", metadataFile))
		if err != nil || len(metadata) == 0 {
			b.Fatalf("no profile in %s (%v)", folder, err)
		}
		for _, file := range metadata {
			p := Profile{Image: image(fmt.Sprintf("i%d", i)), Name: filepath.Base(filepath.Dir(file))}
			if p.Metadata, err = os.ReadFile(file); err != nil {
				b.Fatal(err)
			}
			if p.Manifests, err = os.ReadFile(filepath.Join(filepath.Dir(file), manifestsFile)); err != nil {
				b.Fatal(err)
			}
			in.Profiles = append(in.Profiles, p)
		}
	}
	return in
}

// reportCPU is to be called before the loop, and its result after it: unlike
// the time, the work of the processor hardly depends on what else the machine does.
func reportCPU(b *testing.B) func() {
	b.Helper()
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Milliseconds())/float64(b.N), "cpu-ms/op") }
}

func BenchmarkRender_core_and_AWS(b *testing.B) {
	in := benchmarked(b)
	size := 0
	for _, p := range in.Profiles {
		size += len(p.Manifests)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		if _, err := Render(in); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLint_core_and_AWS(b *testing.B) {
	in := benchmarked(b)
	b.ReportAllocs()
	defer reportCPU(b)()
	for b.Loop() {
		if found := Lint(in.Profiles, LintOptions{Substitutions: in.Substitutions, Namespaces: []string{"openshift-cluster-api", "capi"}}); len(found) > 0 {
			b.Fatal(found)
		}
	}
}

func TestRender_core_and_AWS_allocates_less_than_40_MB_in_all(t *testing.T) {
	in := coreAndAWS()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rev := mustRender(t, in)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 40<<20 {
		t.Errorf("%d MB were allocated", allocated>>20)
	}
	objects, size := 0, 0
	for _, c := range rev.Components {
		objects += len(c.Objects)
	}
	for _, p := range in.Profiles {
		size += len(p.Manifests)
	}
	if objects != 56 || size < 2_300_000 || size > 2_600_000 {
		t.Errorf("the input is not that of core and AWS: %d objects in %d bytes", objects, size)
	}
}
