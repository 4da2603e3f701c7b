package protobuf

import (
	"bytes"
	"encoding/json"
	"fmt"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// The documents of discovery, by apiVersion and kind.
var discovered = map[metav1.TypeMeta]func() runtime.Object{
	{APIVersion: "v1", Kind: "APIVersions"}:                                                 func() runtime.Object { return &metav1.APIVersions{} },
	{APIVersion: "v1", Kind: "APIGroupList"}:                                                func() runtime.Object { return &metav1.APIGroupList{} },
	{APIVersion: "v1", Kind: "APIGroup"}:                                                    func() runtime.Object { return &metav1.APIGroup{} },
	{APIVersion: "v1", Kind: "APIResourceList"}:                                             func() runtime.Object { return &metav1.APIResourceList{} },
	{APIVersion: "v1", Kind: "Status"}:                                                      func() runtime.Object { return &metav1.Status{} },
	{APIVersion: apidiscoveryv2.SchemeGroupVersion.String(), Kind: "APIGroupDiscoveryList"}: func() runtime.Object { return &apidiscoveryv2.APIGroupDiscoveryList{} },
}

// Discovery is a document of discovery, or a Status, in protobuf, made of the same document in JSON. Which groups a client sees
// is a matter of the whole document, so it is translated in the one form and given to a client in the other. An error is a
// MalformedError.
func Discovery(document []byte) ([]byte, error) {
	var of metav1.TypeMeta
	if err := json.Unmarshal(document, &of); err != nil {
		return nil, &MalformedError{Cause: fmt.Sprintf("the document to be encoded: %v", err)}
	}
	empty := discovered[of]
	if empty == nil {
		return nil, malformed("%s %s is no document of discovery", of.APIVersion, of.Kind)
	}
	object := empty()
	if err := json.Unmarshal(document, object); err != nil {
		return nil, &MalformedError{Cause: fmt.Sprintf("the document to be encoded: %v", err)}
	}
	var out bytes.Buffer
	if err := protobuf.NewSerializer(nil, nil).Encode(object, &out); err != nil {
		return nil, fmt.Errorf("encoding %s: %w", of.Kind, err)
	}
	return out.Bytes(), nil
}
