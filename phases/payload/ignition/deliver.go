package ignition

// Delivery is how a machine gets its full config.
type Delivery string

const (
	// BySecret puts the config itself into the Secret that the machine is given.
	BySecret Delivery = "Secret"
	// ByStub puts a stub there, of a URL that somebody has uploaded the config to.
	ByStub Delivery = "Stub"
)

// NotUploadedError is a config that nobody has uploaded yet: it is waited for.
type NotUploadedError struct{}

func (NotUploadedError) Error() string {
	return "the Ignition config is to be delivered by a stub, and nobody has uploaded it yet; upload it, and write its URL into the annotation"
}

// Upload is where a config was uploaded to, and the authority that the URL is trusted by, in PEM, if it is none of the operating
// system's.
type Upload struct {
	URL       string
	Authority []byte
}

// Deliver returns what goes into the Secret of a machine: the config, or a TooLargeError if no Secret can hold it; or its stub, or a
// NotUploadedError. What it returns is parsed by Ignition.
func Deliver(config []byte, by Delivery, upload Upload) ([]byte, error) {
	if by != ByStub {
		if err := Fits(config); err != nil {
			return nil, err
		}
		return config, Check(config)
	}
	if upload.URL == "" {
		return nil, NotUploadedError{}
	}
	return Stub(upload.URL, config, upload.Authority)
}
