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

// sbom names each binary, and each module that is in one with its version and the checksum that Go's database has of it.
func sbom(programs []Program) ([]byte, error) {
	all := sha256.New()
	for _, p := range programs {
		fmt.Fprintf(all, "%x", sha256.Sum256(p.Content))
	}
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: "capstan", DocumentNamespace: repository + "/sbom/" + hex.EncodeToString(all.Sum(nil)),
		CreationInfo: &spdx.CreationInfo{
			Created: created(programs[0].Build), Creators: []common.Creator{{CreatorType: "Tool", Creator: "capstan-packaging"}},
		},
	}
	for _, p := range programs {
		doc.Packages = append(doc.Packages, p.pkg())
		relate(doc, "DOCUMENT", p.id(), common.TypeRelationshipDescribe)
	}
	known := map[string]common.ElementID{}
	for _, p := range programs {
		stdlib := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(p.Go, "go")}
		for _, m := range append([]*debug.Module{stdlib}, p.Modules...) {
			key := m.Path + "@" + m.Version
			if known[key] == "" {
				known[key] = common.ElementID(fmt.Sprintf("Package-%d-%s", len(known), notInAnID.ReplaceAllString(m.Path, "-")))
				doc.Packages = append(doc.Packages, dependency(known[key], m))
			}
			relate(doc, p.id(), known[key], common.TypeRelationshipDependsOn)
		}
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func relate(doc *spdx.Document, from, to common.ElementID, how string) {
	doc.Relationships = append(doc.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(to)), Relationship: how,
	})
}

func (p Program) id() common.ElementID { return common.ElementID("Package-" + p.Name) }

// pkg is the binary itself.
func (p Program) pkg() *spdx.Package {
	product := modulePackage(p.id(), p.Module, p.String())
	product.PrimaryPackagePurpose = "APPLICATION"
	product.PackageFileName = p.place()
	product.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: fmt.Sprintf("%x", sha256.Sum256(p.Content))}}
	return product
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
