// Package scrape says who may read the operator's metrics, and with which TLS.
// Prometheus comes with a certificate, which is judged without asking anybody;
// everybody else comes with a token, of which the API server is asked. It
// refuses whoever it cannot judge, and serves nothing but what it stands before.
package scrape
