// Package judge gives the API server's own verdict on objects, were the definition of a requirement installed: what it refuses,
// and which fields it does not know. It calls the libraries of the API server in the order of its strategy for custom
// resources, which itself links the storage of API servers. Excluded fields are neither required nor validated nor pruned.
package judge
