// Package applying is the logic of `capstan-provider apply`: server-side apply under a name of its own, Namespaces first, then Secrets,
// then the rest. It refuses to force anything: a field that somebody else has set stays as it is, and is told. It waits for nothing,
// and deletes nothing.
package applying
