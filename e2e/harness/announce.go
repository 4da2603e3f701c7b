package harness

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Announce stores what proves an entry of the list of revisions to be the
// operator's: an inventory like that of another revision, which lists nothing.
func (e *Environment) Announce(ctx context.Context, entry operatorv1alpha1.ClusterAPIInstallerRevision, like int64) error {
	const prefix = "capstan-inventory-"
	model := &corev1.ConfigMap{}
	if err := e.Client.Get(ctx, client.ObjectKey{Namespace: OperatorNamespace, Name: fmt.Sprint(prefix, like)}, model); err != nil {
		return fmt.Errorf("reading the inventory of revision %d: %w", like, err)
	}
	text, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("announcing revision %s: %w", entry.Name, err)
	}
	sum := sha256.Sum256(text)
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	err = json.NewEncoder(zip).Encode(map[string]any{
		"revision": entry.Name, "number": entry.Revision, "contentID": entry.ContentID, "announced": true, "listed": hex.EncodeToString(sum[:]),
	})
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return fmt.Errorf("announcing revision %s: %w", entry.Name, err)
	}
	annotations := maps.Clone(model.Annotations)
	annotations[RevisionAnnotation] = fmt.Sprint(entry.Revision)
	announcement := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: OperatorNamespace, Name: fmt.Sprint(prefix, entry.Revision), Labels: model.Labels, Annotations: annotations},
		BinaryData: map[string][]byte{"inventory.json.gz": packed.Bytes()},
	}
	if err := e.Client.Create(ctx, announcement); err != nil {
		return fmt.Errorf("announcing revision %s: %w", entry.Name, err)
	}
	return nil
}
