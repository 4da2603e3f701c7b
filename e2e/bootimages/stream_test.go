package bootimages_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/coreos/stream-metadata-go/stream"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capstan-capi/capstan/e2e/bootworld"
)

// golden is the stream of a release, of which the library knows every field.
func golden(release int) string {
	GinkgoHelper()
	text, err := bootworld.Golden(release)
	Expect(err).NotTo(HaveOccurred())
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	back := &stream.Stream{}
	Expect(decoder.Decode(back)).To(Succeed())
	again, err := json.Marshal(back)
	Expect(err).NotTo(HaveOccurred())
	Expect(string(again)).To(Equal(text))
	return text
}

// fedora is the stream that the library is tested with.
func fedora(ctx context.Context) (text string, images *stream.Stream) {
	GinkgoHelper()
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/coreos/stream-metadata-go").Output()
	Expect(err).NotTo(HaveOccurred())
	read, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "stream", "fixtures", "fcos-stream.json"))
	Expect(err).NotTo(HaveOccurred())
	images = &stream.Stream{}
	Expect(json.Unmarshal(read, images)).To(Succeed())
	return string(read), images
}
