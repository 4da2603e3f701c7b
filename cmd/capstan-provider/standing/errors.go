package standing

import "github.com/capstan-capi/capstan/cmd/capstan/inspect"

// Explain makes an error of a request to a management plane one for a person, as [inspect.Explain] does.
func Explain(err error, host, verb, object string) error {
	if inspect.NotServed(err) {
		return &inspect.Error{
			What: host + " does not know the kind of " + object,
			Next: "have the providers installed there, or use the context of another management plane", Err: err,
		}
	}
	return inspect.Explain(err, host, verb, object)
}
