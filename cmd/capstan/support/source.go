package support

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	requirementsv1alpha1 "github.com/openshift/api/apiextensions/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capstan-capi/capstan/cmd/capstan/inspect"
	"github.com/capstan-capi/capstan/cmd/capstan/support/archive"
	"github.com/capstan-capi/capstan/controllers/view"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/history"
	"github.com/capstan-capi/capstan/phases/recorder"
)

// What bounds a part that is read as objects, besides its bytes the commas in it: short elements of lists take far more memory
// than text.
const (
	maxPart   = 8 << 20
	maxCommas = 200_000
)

// Source is an archive that is read as if it were the cluster.
type Source struct {
	name    string
	archive *archive.Archive
}

// Open reads the archive in a file.
func Open(name string) (*Source, error) {
	read, err := archive.Open(name)
	if err != nil {
		return nil, &inspect.Error{What: err.Error(), Next: "name a file that `capstan support` has made, unchanged", Err: err}
	}
	return &Source{name: name, archive: read}, nil
}

// At is the moment at which the archive was made.
func (s *Source) At() time.Time { return s.archive.Index.At }

// part reads one; what is not there is told with the reason why.
func (s *Source) part(name, word string) ([]byte, error) {
	e, content, told := s.archive.Of(name)
	switch {
	case !told:
		return nil, &inspect.Error{What: fmt.Sprintf("the archive %s tells nothing of %s", s.name, word), Next: "ask the cluster"}
	case e.State == archive.Missing && e.Right != "":
		return nil, &inspect.Error{What: fmt.Sprintf("%s is not in the archive %s: %s", word, s.name, e.Why), Next: "have somebody make an archive who has the right to " + e.Right}
	case e.State == archive.Missing:
		return nil, &inspect.Error{What: fmt.Sprintf("%s is not in the archive %s: %s", word, s.name, e.Why), Next: "make an archive again"}
	case len(content) > maxPart:
		return nil, &inspect.Error{What: fmt.Sprintf("%s in the archive %s has %d bytes, and is read up to %d", name, s.name, len(content), maxPart)}
	case bytes.Count(content, []byte(",")) > maxCommas:
		return nil, &inspect.Error{What: fmt.Sprintf("%s in the archive %s has longer lists than any that is made", name, s.name)}
	}
	return content, nil
}

// Get reads an object as a cluster is read; a [view.Getter].
func (s *Source) Get(_ context.Context, kind schema.GroupVersionResource, word, namespace, name string, into any) (bool, error) {
	word += " " + name
	switch {
	case namespace != "":
	case kind == clusterAPIs && name == phases.Singleton:
		return s.object(clusterAPIPart, word, into)
	case kind == clusterOperators && name == phases.ClusterOperatorName:
		return s.object(operatorPart, word, into)
	case kind == requirementKind:
		return s.requirement(word, name, into)
	}
	return false, &inspect.Error{What: fmt.Sprintf("%s is in no archive, so it is not in %s", word, s.name), Next: "ask the cluster"}
}

func (s *Source) object(name, word string, into any) (bool, error) {
	content, err := s.part(name, word)
	if err != nil {
		return false, err
	}
	if string(bytes.TrimSpace(content)) == "null" {
		return false, nil
	}
	if err := json.Unmarshal(content, into); err != nil {
		return false, s.unreadable(word, err)
	}
	return true, nil
}

func (s *Source) unreadable(word string, err error) error {
	return &inspect.Error{What: fmt.Sprintf("%s in the archive %s cannot be read: %v", word, s.name, err), Next: "use the capstan of the release that made it", Err: err}
}

func (s *Source) requirements(word string) (list []requirementsv1alpha1.CompatibilityRequirement, err error) {
	content, err := s.part(requirementsPart, word)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, s.unreadable(word, err)
	}
	return list, nil
}

func (s *Source) requirement(word, name string, into any) (bool, error) {
	list, err := s.requirements(word)
	if err != nil {
		return false, err
	}
	for i := range list {
		if list[i].Name != name {
			continue
		}
		if asked, is := into.(*requirementsv1alpha1.CompatibilityRequirement); is {
			*asked = list[i]
			return true, nil
		}
	}
	return false, nil
}

// Names lists the first few names of objects that have an instance each, and counts the others.
func (s *Source) Names(_ context.Context, of view.Instances, few int64) (names []string, others int64, err error) {
	if of.Kind != requirementKind {
		return nil, 0, &inspect.Error{What: fmt.Sprintf("%ss are in no archive, so there are none in %s", of.Word, s.name), Next: "ask the cluster"}
	}
	list, err := s.requirements(of.Word + "s")
	if err != nil {
		return nil, 0, err
	}
	for _, one := range list {
		if int64(len(names)) < few {
			names = append(names, of.Key(one.Namespace, one.Name))
		}
	}
	return names, int64(len(list) - len(names)), nil
}

// History is what the operator remembers of revisions.
func (s *Source) History() (history.History, error) {
	content, err := s.part(historyPart, "the history of revisions")
	if err != nil {
		return history.History{}, err
	}
	known, err := history.Read(content)
	if err != nil {
		return history.History{}, s.unreadable("the history of revisions", err)
	}
	return known, nil
}

// Recorded are the entries of the flight recorder.
func (s *Source) Recorded() ([]recorder.Entry, error) {
	content, err := s.part(recorderPart, "the flight recorder")
	if err != nil {
		return nil, err
	}
	log, err := recorder.ReadLines(content)
	if err != nil {
		return nil, s.unreadable("the flight recorder", err)
	}
	return log, nil
}
