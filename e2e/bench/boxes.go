package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
)

const (
	// definitionGroupFields is how many fields each object of a made-up definition has.
	definitionGroupFields = 20
	definitionsPath       = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	// described is the field whose description a schema update changes.
	described = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/group0/properties/field0/description"
)

// boxes is the definition of a made-up kind, whose JSON is of a size in KiB: as in those of real providers, three quarters are
// descriptions. It keeps a status apart, and has one rule.
func boxes(group string, kib int) (map[string]any, error) {
	groups := map[string]any{}
	spec := map[string]any{"type": "object", "properties": groups}
	definition := made("apiextensions.k8s.io/v1", crdKind, "boxes."+group, "", "spec", map[string]any{
		"group": group, "scope": "Namespaced",
		"names": map[string]any{"plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{
				"spec": spec, "status": map[string]any{"type": "object", "properties": map[string]any{"phase": map[string]any{"type": "string"}}},
			}}},
		}},
	})
	for size := 0; size < kib<<10; {
		one := boxGroup()
		groups[fmt.Sprintf("group%d", len(groups))] = one
		text, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("encoding a definition: %w", err)
		}
		size += len(text)
	}
	groups["group0"].(map[string]any)["x-kubernetes-validations"] = []any{map[string]any{"rule": "!has(self.field0) || self.field0 != 'forbidden'"}}
	return definition, nil
}

// boxGroup is the schema of an object with some fields.
func boxGroup() map[string]any {
	fields := map[string]any{}
	for i := range definitionGroupFields {
		fields[fmt.Sprintf("field%d", i)] = map[string]any{
			"type": "string", "maxLength": 4096,
			"description": strings.Repeat("A made-up field with a sentence that says what it is good for. ", 3),
		}
	}
	return map[string]any{"type": "object", "properties": fields}
}

// box is an object of the kind whose JSON is of a size in KiB.
func box(group, name string, kib int) map[string]any {
	groups := map[string]any{}
	const length = 500
	for i := range kib << 10 / length {
		within := fmt.Sprintf("group%d", i/definitionGroupFields)
		if groups[within] == nil {
			groups[within] = map[string]any{}
		}
		groups[within].(map[string]any)[fmt.Sprintf("field%d", i%definitionGroupFields)] = strings.Repeat("x", length)
	}
	return made(group+"/v1", "Box", name, "default", "spec", groups)
}

// requirement needs a definition, and denies what its parts are told to.
func requirement(name string, definition map[string]any, crds, objects requirementsv1alpha1.CRDAdmitAction) (*requirementsv1alpha1.CompatibilityRequirement, error) {
	data, err := json.Marshal(definition) // JSON is YAML too: indented, a definition of 1 MiB would be longer than the API lets it
	if err != nil {
		return nil, fmt.Errorf("encoding what %s needs: %w", name, err)
	}
	r := &requirementsv1alpha1.CompatibilityRequirement{}
	r.Name = name
	r.Spec.CompatibilitySchema.CustomResourceDefinition = requirementsv1alpha1.CRDData{Type: requirementsv1alpha1.CRDDataTypeYAML, Data: string(data)}
	r.Spec.CompatibilitySchema.RequiredVersions.DefaultSelection = requirementsv1alpha1.APIVersionSetTypeStorageOnly
	r.Spec.CustomResourceDefinitionSchemaValidation.Action = crds
	r.Spec.ObjectSchemaValidation.Action = objects
	return r, nil
}

// define creates a definition and waits until it is established.
func (c *bare) define(ctx context.Context, definition map[string]any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	name := nameOf(definition)
	if err := c.create(ctx, definitionsPath, definition); err != nil {
		return err
	}
	return c.watch(ctx, definitionsPath, url.Values{"fieldSelector": {"metadata.name=" + name}}, established)
}

func nameOf(object map[string]any) string {
	return object["metadata"].(map[string]any)["name"].(string)
}

func (c *bare) create(ctx context.Context, path string, object map[string]any) error {
	payload, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encoding an object for %s: %w", path, err)
	}
	_, err = c.send(ctx, http.MethodPost, path, "application/json", payload)
	return err
}

// describe changes the schema of a definition, and nothing that anybody needs.
func (c *bare) describe(ctx context.Context, definition string, turn int) error {
	patch := fmt.Appendf(nil, `[{"op":"replace","path":%q,"value":"Turn %d."}]`, described, turn)
	_, err := c.send(ctx, http.MethodPatch, definitionsPath+"/"+definition, "application/json-patch+json", patch)
	return err
}

// label changes a label of a definition.
func (c *bare) label(ctx context.Context, definition string, turn int) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"turn":"%d"}}}`, turn)
	_, err := c.send(ctx, http.MethodPatch, definitionsPath+"/"+definition, "application/merge-patch+json", patch)
	return err
}

// send sends a request and reads the answer, which is an error from status 400 on.
func (c *bare) send(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.host+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %s: %.300s (%w)", method, path, response.Status, answer, err)
	}
	return answer, nil
}

// timed is how long a write takes, by the clock.
func timed(write func() error) (time.Duration, error) {
	began := time.Now()
	err := write()
	return time.Since(began), err
}
