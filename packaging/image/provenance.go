package image

import (
	"bytes"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	origin "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	predicate = "https://slsa.dev/provenance/v1"
	// buildType is where it is told what is done, and builder who does it: whoever runs make.
	buildType = repository + "/blob/main/docs/dependencies.md#the-image"
	builder   = repository + "/Makefile#image"
)

// provenance says which commit an image was built from and how. It has no signature: whoever builds for others signs it.
func provenance(image v1.Hash, b *Build) ([]byte, error) {
	parameters, err := structpb.NewStruct(map[string]any{
		"source": "git+" + repository, "revision": b.String(), "platform": b.Platform(),
	})
	if err != nil {
		return nil, err
	}
	said := &origin.Provenance{
		BuildDefinition: &origin.BuildDefinition{
			BuildType: buildType, ExternalParameters: parameters,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Uri: "git+" + repository, Digest: map[string]string{"gitCommit": b.Commit}},
				{Uri: packageURL("stdlib", b.Go[len("go"):]), Name: "go"},
			},
		},
		RunDetails: &origin.RunDetails{Builder: &origin.Builder{Id: builder}},
	}
	if err := said.Validate(); err != nil {
		return nil, err
	}
	predicateText, err := protojson.Marshal(said)
	if err != nil {
		return nil, err
	}
	fields := &structpb.Struct{}
	if err := protojson.Unmarshal(predicateText, fields); err != nil {
		return nil, err
	}
	statement := &intoto.Statement{
		Type: intoto.StatementTypeUri, PredicateType: predicate, Predicate: fields,
		Subject: []*intoto.ResourceDescriptor{{Name: "capstan", Digest: map[string]string{image.Algorithm: image.Hex}}},
	}
	if err := statement.Validate(); err != nil {
		return nil, err
	}
	text, err := protojson.Marshal(statement)
	if err != nil {
		return nil, err
	}
	// protojson puts spaces where the binary that runs it has them.
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
