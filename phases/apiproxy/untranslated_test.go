package apiproxy

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
)

func TestProxy_logs_path_and_cause_of_what_it_cannot_translate_and_nothing_of_what_is_in_it(t *testing.T) {
	for name, row := range map[string]struct {
		server           http.HandlerFunc
		method, body     string
		direction, cause string
	}{
		"an answer": {answers("application/json", `{"apiVersion":"`+private+`/v1beta2","spec":"the-secret`), http.MethodGet, "", "to client", "not the JSON that it should be"},
		"a request": {answers("application/json", `{}`), http.MethodPost, `{"apiVersion":"` + standard + `/v1beta2","spec":"the-secret`, "to server", "not the JSON that it should be"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, shown := front(t, row.server)
			var mutex sync.Mutex
			var told strings.Builder
			proxy.log = funcr.New(func(_, text string) {
				mutex.Lock()
				defer mutex.Unlock()
				told.WriteString(text)
			}, funcr.Options{})
			header := http.Header{}
			if row.body != "" {
				header = asJSON()
			}
			// Who gets half an answer gets an error of the connection.
			_, _, _ = sent{row.method, machines, row.body, header}.to(t, shown)
			mutex.Lock()
			defer mutex.Unlock()
			for _, says := range []string{`"path"="` + machines + `"`, row.cause, `"direction"="` + row.direction + `"`} {
				if !strings.Contains(told.String(), says) {
					t.Errorf("%s does not say %s", told.String(), says)
				}
			}
			if strings.Contains(told.String(), "the-secret") {
				t.Errorf("it says what is in the body: %s", told.String())
			}
		})
	}
}
