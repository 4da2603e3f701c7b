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
}

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
	return m
}

// MayCreateBootstrap says whether a bootstrap Machine may be created: none was before, and nothing says that the guest's API has
// answered. It is asked of marks that were read live.
func (m Marks) MayCreateBootstrap() bool {
	return m.Inputs != "" && (m.Bootstrap == "" || m.Bootstrap == Intended) && !m.Initialized && !m.Finished
}

// MayDeleteBootstrap says whether the bootstrap Machine may be deleted for its cluster's sake: the guest does without it. It is
// asked of marks that were read live.
func (m Marks) MayDeleteBootstrap() bool { return m.Finished }
