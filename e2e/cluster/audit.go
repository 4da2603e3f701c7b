package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// Request is one request that kube-apiserver answered or, for a watch, began to
// answer. Every request is in the audit log exactly once.
type Request struct {
	Verb        string
	User        string
	UserAgent   string
	APIGroup    string
	Resource    string // plural, empty for paths such as /version
	Subresource string
	Namespace   string
	Name        string
	Code        int    // HTTP status
	Stage       string // ResponseStarted for a watch, else ResponseComplete
	DryRun      bool   // asked for in the address, as server-side apply does
	// Unauthorized says that the user has no right to send it. Admission has another word.
	Unauthorized bool
	RequestURI   string
	Time         time.Time // when the request arrived
}

// IsWrite says whether the request could have changed what is stored. A delete
// whose body asks for a dry run counts as a write: bodies are not logged.
func (r Request) IsWrite() bool {
	writes := []string{"create", "update", "patch", "delete", "deletecollection"}
	return slices.Contains(writes, r.Verb) && !r.DryRun
}

// IsCreation says whether the request brought an object into being: a POST did,
// or an apply of what was not there.
func (r Request) IsCreation() bool {
	return r.Code == http.StatusCreated && (r.Verb == "create" || r.Verb == "patch") && !r.DryRun
}

// IsBy says whether the client called itself by this name, with or without
// anything after it: "capstan" is capstan and capstan/v1.2 (linux), not
// capstan-other.
func (r Request) IsBy(userAgent string) bool {
	rest, found := strings.CutPrefix(r.UserAgent, userAgent)
	return found && (rest == "" || rest[0] == '/' || rest[0] == ' ')
}

// String is the request on one line, for the message of a failed test.
func (r Request) String() string {
	dryRun := ""
	if r.DryRun {
		dryRun = " (dry run)"
	}
	return fmt.Sprintf("%s %s %s -> %d%s by %s", r.Time.Format("15:04:05.000"), r.Verb, r.RequestURI, r.Code, dryRun, r.UserAgent)
}

// RequestList is requests in the order in which the server logged them.
type RequestList []Request

// By keeps the requests of one client; see Request.IsBy.
func (l RequestList) By(userAgent string) RequestList {
	return l.Where(func(r Request) bool { return r.IsBy(userAgent) })
}

// Writes keeps the requests that could have changed what is stored.
func (l RequestList) Writes() RequestList { return l.Where(Request.IsWrite) }

// Except drops the requests for a resource, such as ("coordination.k8s.io", "leases").
func (l RequestList) Except(group, resource string) RequestList {
	return l.Where(func(r Request) bool { return r.APIGroup != group || r.Resource != resource })
}

// Where keeps the requests that a predicate says yes to.
func (l RequestList) Where(keep func(Request) bool) RequestList {
	var kept RequestList
	for _, r := range l {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// String is one request per line.
func (l RequestList) String() string {
	lines := make([]string, len(l))
	for i, r := range l {
		lines[i] = r.String()
	}
	return strings.Join(lines, "\n")
}

// Mark is a moment in an audit log: how many bytes it held. The zero Mark is
// its beginning.
type Mark int64

// Requests reads a whole audit log.
func Requests(path string) (RequestList, error) { return RequestsBetween(path, 0, -1) }

// RequestsBetween reads what was logged after one mark and before another; a
// negative end means now. A line that is still being written is left out.
func RequestsBetween(path string, from, to Mark) (RequestList, error) {
	data, err := readBetween(path, from, to)
	if err != nil {
		return nil, err
	}
	var list RequestList
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' {
			break
		}
		request, err := parseRequest(line)
		if err != nil {
			return nil, fmt.Errorf("parsing audit log %s: %w: %.200s", path, err, line)
		}
		list = append(list, request)
	}
	return list, nil
}

func readBetween(path string, from, to Mark) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(int64(from), io.SeekStart); err != nil {
		return nil, fmt.Errorf("going to byte %d of audit log %s: %w", from, path, err)
	}
	var source io.Reader = file
	if to >= 0 {
		source = io.LimitReader(file, int64(to-from))
	}
	data, err := io.ReadAll(source)
	if err != nil {
		return nil, fmt.Errorf("reading audit log %s: %w", path, err)
	}
	return data, nil
}

// Mark returns this moment in the audit log: every request answered before the
// call lies before it. It makes one request of its own, lets it be logged, and
// returns the place after it.
func (c *Cluster) Mark(ctx context.Context) (Mark, error) {
	// The log of a suite becomes long, and who waits for something marks it often.
	before, err := os.Stat(c.AuditLog())
	if err != nil {
		return 0, fmt.Errorf("looking at the audit log: %w", err)
	}
	fence := string(uuid.NewUUID())
	err = c.eventually(ctx, "marking the audit log", func(ctx context.Context) error {
		return c.client.RESTClient().Get().AbsPath("/version").Param("fence", fence).Do(ctx).Error()
	})
	if err != nil {
		return 0, err
	}
	var mark Mark
	err = c.eventually(ctx, "waiting for the mark in the audit log", func(context.Context) error {
		data, err := readBetween(c.AuditLog(), Mark(before.Size()), -1)
		if err != nil {
			return err
		}
		at := bytes.LastIndex(data, []byte(fence))
		end := bytes.IndexByte(data[max(at, 0):], '\n')
		if at < 0 || end < 0 {
			return fmt.Errorf("request %s is not in it", fence)
		}
		mark = Mark(before.Size()) + Mark(at+end+1)
		return nil
	})
	return mark, err
}

// RequestsSince marks the audit log and reads what lies between the two marks.
func (c *Cluster) RequestsSince(ctx context.Context, from Mark) (RequestList, error) {
	to, err := c.Mark(ctx)
	if err != nil {
		return nil, err
	}
	return RequestsBetween(c.AuditLog(), from, to)
}

func parseRequest(line []byte) (Request, error) {
	var event struct {
		Stage, Verb, UserAgent, RequestURI string
		User                               struct{ Username string }
		ObjectRef                          struct{ APIGroup, Resource, Subresource, Namespace, Name string }
		ResponseStatus                     struct{ Code int }
		RequestReceivedTimestamp           metav1.MicroTime
		Annotations                        map[string]string
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return Request{}, err
	}
	address, err := url.Parse(event.RequestURI)
	if err != nil {
		return Request{}, err
	}
	return Request{
		Verb:         event.Verb,
		User:         event.User.Username,
		UserAgent:    event.UserAgent,
		APIGroup:     event.ObjectRef.APIGroup,
		Resource:     event.ObjectRef.Resource,
		Subresource:  event.ObjectRef.Subresource,
		Namespace:    event.ObjectRef.Namespace,
		Name:         event.ObjectRef.Name,
		Code:         event.ResponseStatus.Code,
		Stage:        event.Stage,
		DryRun:       len(address.Query()["dryRun"]) > 0,
		Unauthorized: event.Annotations["authorization.k8s.io/decision"] == "forbid",
		RequestURI:   event.RequestURI,
		Time:         event.RequestReceivedTimestamp.Time,
	}, nil
}
