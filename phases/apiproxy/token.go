package apiproxy

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// here is the name of everything in the kubeconfig that leads to the proxy.
	here = "proxy"
	// username stands before the token in the address of the proxy. Nobody looks at it.
	username = "pod"
)

// Protect writes a kubeconfig that leads to the address of the API, and has each request refused from then on that is without the
// token in it: whoever else reaches the port, as by a port that is forwarded, has no identity here. A file that is there already
// keeps its token, so that clients that have read it go on when the process begins anew. It is called before Run. The file can be
// read by every account, since a component may run as another: the folder has to be its Pod's alone.
//
// The token is the password in the server's address: client-go drops what else a kubeconfig says of a user where that is plain HTTP.
func (s *Server) Protect(file string) error {
	old, _ := os.ReadFile(file) // one that cannot be read is replaced
	token := tokenIn(old)
	if token == "" {
		token = rand.Text()
	}
	address := url.URL{Scheme: "http", User: url.UserPassword(username, token), Host: s.Address()}
	text, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{here: {Server: address.String()}},
		Contexts:       map[string]*clientcmdapi.Context{here: {Cluster: here}},
		CurrentContext: here,
	})
	if err == nil && !bytes.Equal(text, old) {
		err = replace(file, text)
	}
	if err != nil {
		return fmt.Errorf("writing the kubeconfig %s for components: %w", file, err)
	}
	s.proxy.token = token
	return nil
}

// tokenIn is the token that a kubeconfig of an earlier process has; empty for none that is as long as ours are.
func tokenIn(text []byte) string {
	config, err := clientcmd.Load(text)
	if err != nil || config.Clusters[here] == nil {
		return ""
	}
	address, err := url.Parse(config.Clusters[here].Server)
	if err != nil {
		return ""
	}
	if token, _ := address.User.Password(); len(token) == len(rand.Text()) {
		return token
	}
	return ""
}

// replace has a file say something else, all of it at once.
func replace(file string, text []byte) error {
	fresh := file + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(fresh, 0o644); err != nil { //nolint:gosec // a component in the Pod may run as another account
		return err
	}
	return os.Rename(fresh, file)
}

// knows says whether a request has the token, as a password or as a bearer, where one is asked for.
func (p *Proxy) knows(r *http.Request) bool {
	if p.token == "" {
		return true
	}
	given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !is {
		_, given, _ = r.BasicAuth()
	}
	return subtle.ConstantTimeCompare([]byte(given), []byte(p.token)) == 1
}
