// Package watching is the logic of `capstan-provider watch`: what changes of a cluster while it is installed, a line each, until it is
// installed or does not go on. Watches that end are opened again, an API server that does not answer is waited for. It writes nothing.
package watching
