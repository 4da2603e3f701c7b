package kube

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	phases "github.com/capstan-capi/capstan/phases/privatecapi"
)

func TestDependents_are_all_or_an_error_with_their_number(t *testing.T) {
	const owned = `{"metadata":{"namespace":"clusters-a","name":"s%d","ownerReferences":[{"apiVersion":"cluster.x-k8s.io/v1beta1","kind":"Machine","name":"m","uid":"u"}]}}`
	const most = 700
	for _, there := range []int{most, most + 1} {
		t.Run(strconv.Itoa(there), func(t *testing.T) {
			c := against(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch r.URL.Path {
				case "/api":
					fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
				case "/api/v1":
					fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"secrets","kind":"Secret","namespaced":true,"verbs":["list"]}]}`)
				case "/apis":
					fmt.Fprint(w, `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`)
				default:
					from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
					var items []string
					for i := from; i < min(from+page, there); i++ {
						items = append(items, fmt.Sprintf(owned, i))
					}
					next := ""
					if from+page < there {
						next = strconv.Itoa(from + page)
					}
					fmt.Fprintf(w, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"continue":%q},"items":[%s]}`, next, strings.Join(items, ","))
				}
			})
			c.most = most
			all, err := c.Dependents(t.Context(), "clusters-a", phases.Needed{All: true})
			if there <= most {
				if err != nil || len(all) != there {
					t.Errorf("%d of them: %v", len(all), err)
				}
				return
			}
			var many *phases.TooManyError
			if !errors.As(err, &many) || !strings.Contains(err.Error(), "more than 700 secrets") {
				t.Errorf("%d of them: %v", len(all), err)
			}
		})
	}
}
