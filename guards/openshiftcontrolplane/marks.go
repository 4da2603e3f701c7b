package openshiftcontrolplane

// Intended is the bootstrap mark from before the Machine is created until its UID is known.
const Intended = "intended"

// Marks are what must not be lost. They only advance, but for an attempt that is cleared away.
type Marks struct {
	// Inputs is the digest of the frozen inputs, empty while they are not.
	Inputs string `yaml:"inputs"`
	// Bootstrap is [Intended] or the UID of the bootstrap Machine, empty for none.
	Bootstrap   string `yaml:"bootstrap"`
	Initialized bool   `yaml:"initialized"`
	Finished    bool   `yaml:"finished"`
	// Clearing says that the attempt is being cleared away, by whose value of the retry annotation; empty for no. It is no stage, and
	// counts for nothing once the bootstrap is finished.
	Clearing string `yaml:"clearing"`
}

// Clears says that the attempt is being cleared away.
func (m Marks) Clears() bool { return m.Clearing != "" && !m.Finished }

// Stage is the highest of the marks, whichever of the lower ones are there.
func (m Marks) Stage() Stage {
	switch {
	case m.Finished:
		return Finished
	case m.Initialized:
		return Initialized
	case m.Inputs != "" || m.Bootstrap != "": // no Machine is intended before inputs are frozen
		return Frozen
	}
	return NoStage
}

// Reached are the higher ones of marks and status: a status is dropped when an object moves to another plane, and annotations are
// edited by people. Where both name another digest or UID, the mark counts, which was written before what it allows.
func (f Facts) Reached() Marks { return f.Marks.Advance(f.Noted) }

// Advance are the marks with what others have beyond them. None is ever taken back, and a digest or UID that is there stays.
func (m Marks) Advance(others Marks) Marks {
	if m.Inputs == "" {
		m.Inputs = others.Inputs
	}
	if m.Bootstrap == "" || m.Bootstrap == Intended && others.Bootstrap != "" {
		m.Bootstrap = others.Bootstrap
	}
	m.Initialized = m.Initialized || others.Initialized
	m.Finished = m.Finished || others.Finished
	if m.Clearing == "" {
		m.Clearing = others.Clearing
	}
	return m
}

// MayCreateBootstrap says whether a bootstrap Machine may be created: none was before, nothing says that the guest's API has answered,
// and the attempt is not being cleared away. It is asked of marks that were read live.
func (m Marks) MayCreateBootstrap() bool {
	return m.Inputs != "" && (m.Bootstrap == "" || m.Bootstrap == Intended) && !m.Initialized && !m.Finished && m.Clearing == ""
}

// AttemptID tells attempts apart, by what is installed and what was cleared away before; empty while the inputs are not frozen.
func (f Facts) AttemptID() string {
	inputs := f.Reached().Inputs
	if inputs == "" {
		return ""
	}
	return Brief(inputs + " " + f.Object.Served)
}

// MayDeleteBootstrap says whether the bootstrap Machine may be deleted for its cluster's sake: the guest does without it. It is
// asked of marks that were read live.
func (m Marks) MayDeleteBootstrap() bool { return m.Finished }
