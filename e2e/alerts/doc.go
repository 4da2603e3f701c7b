// Package alerts proves the rules that Prometheus is given, with Prometheus's
// own engine. It is a module of its own: what it needs is more than the product.
package alerts
