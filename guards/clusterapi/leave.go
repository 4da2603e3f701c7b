package clusterapi

// LeftAlone is an object that people ask to leave as it is.
type LeftAlone struct {
	Object string `json:"object" yaml:"object"`
	// Differs says how it is not as wanted, empty if it is; Probe what it waits for until it works.
	Differs string `json:"differs,omitempty" yaml:"differs"`
	Probe   string `json:"probe,omitempty" yaml:"probe"`
	// Nowhere says that neither the newest revision nor the one that is installed has it.
	Nowhere bool `json:"nowhere,omitempty" yaml:"nowhere"`
}

func (l LeftAlone) String() string {
	switch {
	case l.Nowhere:
		return l.Object + ": neither the newest revision nor the one that is installed has it"
	case l.Differs == "" && l.Probe == "":
		return l.Object + ": it is as wanted"
	case l.Differs == "":
		return l.Object + ": it is as wanted; " + l.Probe
	case l.Probe == "":
		return l.Object + ": " + l.Differs
	}
	return l.Object + ": " + l.Differs + "; " + l.Probe
}
