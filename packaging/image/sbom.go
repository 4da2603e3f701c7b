package image

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
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
	add := func(id common.ElementID, path, version, sum string) {
		p := modulePackage(id, path, version)
		if sum != "" {
			p.PackageComment = "go.sum has " + sum
		}
		doc.Packages = append(doc.Packages, p)
		relate(root, id, common.TypeRelationshipDependsOn)
	}
	add("Package-stdlib", "stdlib", strings.TrimPrefix(b.Go, "go"), "")
	for i, m := range b.Modules {
		id := fmt.Sprintf("Package-%d-%s", i+1, notInAnID.ReplaceAllString(m.Path, "-"))
		add(common.ElementID(id), m.Path, m.Version, m.Sum)
	}
	var out bytes.Buffer
	if err := spdxjson.Write(doc, &out); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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
