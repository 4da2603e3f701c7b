package main

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// newFront stands before the proxy and gives its token to requests that say nothing of who they are. The token is in the address of
// the proxy's kubeconfig, where http.Client finds it; a suite that asks by a bare transport never does.
func newFront(proxy string) (http.Handler, error) {
	upstream, err := url.Parse(proxy)
	if err != nil {
		return nil, fmt.Errorf("reading the proxy's address: %w", err)
	}
	token, _ := upstream.User.Password()
	return &httputil.ReverseProxy{
		FlushInterval: -1, // a watch's events go on as they come
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = upstream.Host
			if r.In.Header.Get("Authorization") == "" {
				r.Out.SetBasicAuth(upstream.User.Username(), token)
			}
		},
	}, nil
}
