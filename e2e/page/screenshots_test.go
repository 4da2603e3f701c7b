//go:build page

package page_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The docs' screenshots", func() {
	It("are of an installed cluster, of one whose upgrade waits, and of a family in the dark", func(ctx SpecContext) {
		operator := install(ctx)
		_, address := look(prod)
		t := newTab()
		t.size(1280, 1080)
		t.open(address)
		Eventually(func() string { return t.text(live) }).Should(Equal("Installed"))
		t.sees(panel, "Revision 1")
		t.keep("dashboard-installed")

		foreign(ctx)
		Expect(env.SetImages(ctx, provider(ctx, "two", "alpha", "beta", "shared"))).To(Succeed())
		Eventually(func() string { return t.text(live) }).WithTimeout(patience).Should(Equal("Applying"))
		t.click(tabs, "Look")
		t.sees(panel, "ConfigMap openshift-cluster-api/shared")
		t.keep("dashboard-look")

		Expect(operator.Stop()).To(Succeed())
		requirements(ctx, 60)
		t.media(prefers("prefers-color-scheme", "dark"))
		t.click(`.machines button`, "compatibility")
		t.sees(`.rows`, "requirement-0000")
		t.keep("dashboard-family")
	})
})

// keep takes a screenshot, and writes it if the run is to write them.
func (t *tab) keep(name string) {
	GinkgoHelper()
	small := few(t.shot())
	if *screenshots != "" {
		Expect(os.WriteFile(filepath.Join(*screenshots, name+".png"), small, 0o644)).To(Succeed())
	}
}

// few is a picture with 256 colours at most, a third as large: of colours that are nearly the same the one that it has most of.
func few(shot []byte) []byte {
	GinkgoHelper()
	from, err := png.Decode(bytes.NewReader(shot))
	Expect(err).NotTo(HaveOccurred())
	counts := map[color.Color]int{}
	area := from.Bounds()
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			counts[from.At(x, y)]++
		}
	}
	alike := map[[3]uint32]color.Color{}
	for one := range counts {
		r, g, b, _ := one.RGBA()
		about := [3]uint32{r >> 12, g >> 12, b >> 12}
		if kept := alike[about]; kept == nil || counts[one] > counts[kept] {
			alike[about] = one
		}
	}
	most := slices.SortedFunc(maps.Values(alike), func(a, b color.Color) int { return counts[b] - counts[a] })
	to := image.NewPaletted(area, most[:min(len(most), 256)])
	near := map[color.Color]uint8{}
	for one := range counts {
		near[one] = uint8(to.Palette.Index(one))
	}
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			to.SetColorIndex(x, y, near[from.At(x, y)])
		}
	}
	var out bytes.Buffer
	Expect((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to)).To(Succeed())
	return out.Bytes()
}
