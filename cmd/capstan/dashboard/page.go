package dashboard

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// files are those of the page. There is no build step: what is in the folder is what a browser gets.
//
//go:embed page
var files embed.FS

// contentTypes are those that files may have, by the ends of their names. None is guessed.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
	".json": "application/json; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
}

// static answers with a file of the page, which holds no secret: everybody may read it.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		s.refuse(w, http.StatusMethodNotAllowed, Problem{Error: "files are only read here"})
		return
	}
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	kind, known := contentTypes[path.Ext(name)]
	text, err := fs.ReadFile(files, "page/"+name)
	if err != nil || !known {
		s.refuse(w, http.StatusNotFound, Problem{Error: "there is nothing at this address", Next: "open the address that capstan dashboard has printed"})
		return
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin))
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(text)
}
