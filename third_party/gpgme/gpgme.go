// Package gpgme stands in for github.com/proglottis/gpgme, which is needed to build go.podman.io/image/v5/signature
// where there is a C compiler, and itself needs the C library of GnuPG. Signatures of GnuPG are not judged here, so all
// that begins with one is refused: New never returns a context. See docs/image-trust.md.
package gpgme

import (
	"errors"
	"io"
	"os"
)

// ErrNone says that there is no GnuPG in this program.
var ErrNone = errors.New("this program has no GnuPG")

type (
	// Protocol stands for the library's type.
	Protocol int
	// SigMode stands for the library's type.
	SigMode int
	// PinEntryMode stands for the library's type.
	PinEntryMode int
	// Validity stands for the library's type.
	Validity int
	// Callback stands for the library's type.
	Callback func(uidHint string, prevWasBad bool, f *os.File) error
	// Key stands for the library's type.
	Key struct{}
	// Data stands for the library's type.
	Data struct{}
	// Context stands for the library's type.
	Context struct{}
)

// These are the library's values that are named.
const (
	ProtocolOpenPGP  Protocol     = 0
	SigModeNormal    SigMode      = 0
	PinEntryLoopback PinEntryMode = 4
	ValidityNever    Validity     = 3
)

// Signature stands for the library's type.
type Signature struct {
	Status         error
	Fingerprint    string
	Validity       Validity
	ValidityReason error
	WrongKeyUsage  bool
}

// ImportStatus stands for the library's type.
type ImportStatus struct {
	Result      error
	Fingerprint string
}

// ImportResult stands for the library's type.
type ImportResult struct{ Imports []ImportStatus }

// New returns ErrNone.
func New() (*Context, error) { return nil, ErrNone }

// NewDataBytes returns ErrNone.
func NewDataBytes([]byte) (*Data, error) { return nil, ErrNone }

// NewDataWriter returns ErrNone.
func NewDataWriter(io.Writer) (*Data, error) { return nil, ErrNone }

// SetProtocol returns ErrNone.
func (*Context) SetProtocol(Protocol) error { return ErrNone }

// SetEngineInfo returns ErrNone.
func (*Context) SetEngineInfo(Protocol, string, string) error { return ErrNone }

// SetArmor does nothing.
func (*Context) SetArmor(bool) {}

// SetTextMode does nothing.
func (*Context) SetTextMode(bool) {}

// SetCallback returns ErrNone.
func (*Context) SetCallback(Callback) error { return ErrNone }

// SetPinEntryMode returns ErrNone.
func (*Context) SetPinEntryMode(PinEntryMode) error { return ErrNone }

// GetKey returns ErrNone.
func (*Context) GetKey(string, bool) (*Key, error) { return nil, ErrNone }

// Import returns ErrNone.
func (*Context) Import(*Data) (*ImportResult, error) { return nil, ErrNone }

// Sign returns ErrNone.
func (*Context) Sign([]*Key, *Data, *Data, SigMode) error { return ErrNone }

// Verify returns ErrNone.
func (*Context) Verify(*Data, *Data, *Data) (string, []Signature, error) { return "", nil, ErrNone }

// Fingerprint is empty.
func (*Key) Fingerprint() string { return "" }
