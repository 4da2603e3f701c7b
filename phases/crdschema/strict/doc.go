// Package strict says what is wrong with a requirement before it is stored: all that Decode refuses, all that the API server
// would refuse of its definition and of the selectors and conditions of its webhooks, and what Capstan cannot let anybody have.
// It links the validation of API servers, and with it gRPC, 4 MB of the binary: only the process that serves webhooks may import it.
package strict
