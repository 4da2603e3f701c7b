package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

// unknown is SPDX's word for what was not looked into, licences among it.
const unknown = "NOASSERTION"

// notInAnID is what an identifier of SPDX may not have.
var notInAnID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// sbom names the binary, and each module that is in it with its version and the checksum that Go's database has of it.
func sbom(binary []byte, b *Build) ([]byte, error) {
	sum := sha256.Sum256(binary)
	digest := hex.EncodeToString(sum[:])
	const root = common.ElementID("Package-capstan")
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: "capstan", DocumentNamespace: repository + "/sbom/" + digest,
		CreationInfo: &spdx.CreationInfo{
			Created: created(b), Creators: []common.Creator{{CreatorType: "Tool", Creator: "capstan-packaging"}},
		},
	}
	product := modulePackage(root, b.Module, b.String())
	product.PrimaryPackagePurpose = "APPLICATION"
	product.PackageFileName = entry
	product.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: digest}}
	doc.Packages = append(doc.Packages, product)
	relate := func(from, to common.ElementID, how string) {
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(to)), Relationship: how,
		})
	}
	relate("DOCUMENT", root, common.TypeRelationshipDescribe)
	add := func(id common.ElementID, p *spdx.Package) {
		doc.Packages = append(doc.Packages, p)
		relate(root, id, common.TypeRelationshipDependsOn)
	}
	add("Package-stdlib", modulePackage("Package-stdlib", "stdlib", strings.TrimPrefix(b.Go, "go")))
	for i, m := range b.Modules {
		id := common.ElementID(fmt.Sprintf("Package-%d-%s", i+1, notInAnID.ReplaceAllString(m.Path, "-")))
		add(id, dependency(id, m))
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// dependency is a module by the code that is in the binary. Of one that a folder stands in for, there is no code, and no
// database of vulnerabilities is asked about it.
func dependency(id common.ElementID, m *debug.Module) *spdx.Package {
	code, comment := m, ""
	if m.Replace != nil {
		code = m.Replace
		comment = fmt.Sprintf("stands in for %s %s by a replace in go.mod", m.Path, m.Version)
	}
	p := modulePackage(id, code.Path, code.Version)
	if m.Replace != nil && code.Version == "" {
		comment = fmt.Sprintf("%s of %s stands in for it by a replace in go.mod", filepath.ToSlash(filepath.Clean(code.Path)), repository)
		p = modulePackage(id, m.Path, m.Version)
		p.PackageExternalReferences = nil
	}
	if code.Sum != "" {
		comment = strings.Trim(comment+"; go.sum has "+code.Sum, "; ")
	}
	p.PackageComment = comment
	return p
}

func modulePackage(id common.ElementID, path, version string) *spdx.Package {
	return &spdx.Package{
		PackageName: path, PackageSPDXIdentifier: id, PackageVersion: version,
		PackageDownloadLocation: unknown, PackageLicenseConcluded: unknown, PackageLicenseDeclared: unknown,
		PackageCopyrightText: unknown, IsFilesAnalyzedTagPresent: true, FilesAnalyzed: false,
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: packageURL(path, version),
		}},
	}
}

// packageURL is how databases of vulnerabilities name a module.
func packageURL(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(url.PathEscape(version), "+", "%2B")
}
