package see

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fill shows a watch what there is now, as one shows that begins, and watches nothing. It is for whoever looks once.
func (w *Watch) Fill(ctx context.Context, v View) error {
	w.Cluster.Lock()
	w.began = w.Cluster.Now()
	w.Cluster.Unlock()
	var all []any
	page, version := "", ""
	for range maxPages {
		list, err := w.Cluster.Reader.listView(ctx, v, metav1.ListOptions{Limit: metadataPage, Continue: page})
		if err != nil {
			w.noteErr(err)
			return err
		}
		for i := range list.Items {
			all = append(all, w.sift(&list.Items[i]))
		}
		if page, version = list.Continue, list.ResourceVersion; page == "" {
			break
		}
	}
	return w.Replace(all, version)
}
