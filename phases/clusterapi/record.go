package clusterapi

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	configv1 "github.com/openshift/api/config/v1"
	configv1ac "github.com/openshift/client-go/config/applyconfigurations/config/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/conditions"
)

// RecordKey is where the record lies in ClusterOperator.status.extension.
const RecordKey = "clusterapi"

// Condition is what the machine tells people on the ClusterOperator.
type Condition struct {
	Type    string
	Is      bool
	Reason  string
	Message string
	// Unsure lets what was said before stay, if anything was.
	Unsure bool
}

// Snapshot is the machine after a pass.
type Snapshot = machine.Snapshot[guards.Facts, *Pass]

// Store keeps the machine's record in status.extension of the ClusterOperator
// cluster-api, and the machine's conditions, related objects and version beside
// it, in one server-side apply that is sent only when something changed. Like
// the phases it is used by one pass at a time.
type Store struct {
	*Phases
	// Describe derives the conditions, and Line the one line that says why it is not done, from the record and the facts.
	Describe func(Snapshot) []Condition
	Line     func(Snapshot) string
	// Rests are the states that the machine may stay in, Alarms those that are told as warnings.
	Rests, Alarms func(machine.State) bool

	// detailFrom is when words and counts may be written again.
	detailFrom time.Time
	// written is the newest ClusterOperator this store has seen: its own writes may reach the cache late.
	written *configv1.ClusterOperator
	// movesTold is the moment of the last transition that was announced, logged the last line that was.
	movesTold time.Time
	logged    string
	loaded    bool
	// differs is since when there is something to write, zero for nothing.
	differs time.Time
	// unwritten is the record as it is, when it is ahead of the stored one.
	unwritten *unwritten
}

// Load reads the record. One that is missing or cannot be read is not found,
// and the machine then starts afresh.
func (s *Store) Load(ctx context.Context, _ machine.Key) (machine.Record, bool, error) {
	var record machine.Record
	operator, err := s.operator(ctx)
	if err != nil {
		return record, false, err
	}
	first := !s.loaded
	s.loaded = true
	if s.unwritten.follows(recordOf(operator)) {
		return s.unwritten.record, true, nil
	}
	if operator == nil || len(extension(operator)[RecordKey]) == 0 {
		return record, false, nil
	}
	raw := extension(operator)[RecordKey]
	if err := json.Unmarshal(raw, &record); err != nil {
		s.Log.Info("the record cannot be read, starting afresh", "error", err.Error())
		return machine.Record{}, false, nil
	}
	if made := record.Transitions; first && len(made) > 0 {
		s.movesTold = made[len(made)-1].At // by the process before
	}
	return record, true, nil
}

// report is what is to stand in the ClusterOperator's status.
type report struct {
	record, detail []byte
	conditions     []configv1.ClusterOperatorStatusCondition
	versions       []configv1.OperandVersion
	related        []configv1.ObjectReference
}

// Save writes record, conditions and detail if they differ from what is there,
// and tells in log and Events what is new about them.
func (s *Store) Save(ctx context.Context, _ machine.Key, shot Snapshot) (time.Duration, error) {
	record := shot.Record
	operator, err := s.operator(ctx)
	if err != nil {
		return 0, err
	}
	if operator == nil {
		if operator, err = s.create(ctx); err != nil {
			return 0, err
		}
	}
	now := s.Now()
	line := s.Line(shot)
	wanted, err := s.compose(operator, shot, line, now)
	if err != nil {
		return 0, err
	}
	stored := recordOf(operator)
	if wanted.stands(operator) {
		s.unwritten, s.differs = nil, time.Time{}
		return s.tellMoves(record, line, now), nil
	}
	if s.detailFrom.IsZero() {
		s.detailFrom = now.Add(quietStart)
	}
	if s.differs.IsZero() {
		s.differs = now
	}
	// A clock that was set back holds nothing up for as long as it jumped.
	s.detailFrom, s.differs = earlier(s.detailFrom, now.Add(quietStart)), earlier(s.differs, now)
	if wait := s.mayWait(operator, record, wanted, now); wait > 0 {
		s.unwritten = &unwritten{stored: stored, record: record}
		return wait, nil
	}
	s.detailFrom = now.Add(detailEvery)
	if err := s.write(ctx, wanted); err != nil {
		return 0, err
	}
	s.unwritten, s.differs = nil, time.Time{}
	if line != s.logged {
		s.Log.Info(line)
		s.logged = line
	}
	s.tellStanding(operator, s.stillStanding(operator, shot.Seen.Display))
	return s.tellMoves(record, line, now), nil
}

// mayWait is how long the report may wait to be written, zero for not at all.
func (s *Store) mayWait(operator *configv1.ClusterOperator, record machine.Record, wanted report, now time.Time) time.Duration {
	if !slices.Equal(operator.Status.Versions, wanted.versions) {
		return 0
	}
	if !pressing(operator, record, wanted.conditions) {
		until := s.detailFrom
		if lasts := s.differs.Add(hiccup); s.Rests(record.State) && lasts.After(until) {
			until = lasts
		}
		return until.Sub(now)
	}
	return mayGather(recordOf(operator), record, s.Rests, now)
}

// recordOf is the record as it is stored, nil for none.
func recordOf(operator *configv1.ClusterOperator) []byte {
	if operator == nil {
		return nil
	}
	return extension(operator)[RecordKey]
}

func (s *Store) compose(operator *configv1.ClusterOperator, shot Snapshot, line string, now time.Time) (report, error) {
	raw, err := json.Marshal(shot.Record)
	if err != nil {
		return report{}, fmt.Errorf("encoding the record: %w", err)
	}
	detail, err := detailOf(line, s.stillStanding(operator, shot.Seen.Display), shot.Candidates).encode()
	return report{
		record: raw, detail: detail, conditions: merge(operator.Status.Conditions, s.Describe(shot), now),
		versions: s.versions(operator, shot.Facts), related: s.related(operator),
	}, err
}

// stands says that there is nothing to write.
func (r report) stands(operator *configv1.ClusterOperator) bool {
	there := extension(operator)
	return sameJSON(there[RecordKey], r.record) && sameJSON(there[DetailKey], r.detail) && conditions.Stored(r.conditions, operator.Status.Conditions) &&
		slices.Equal(operator.Status.Versions, r.versions) && slices.Equal(operator.Status.RelatedObjects, r.related)
}

func (s *Store) write(ctx context.Context, r report) error {
	status := configv1ac.ClusterOperatorStatus().
		WithExtension(runtime.RawExtension{Raw: fmt.Appendf(nil, `{%q:%s,%q:%s}`, RecordKey, r.record, DetailKey, r.detail)})
	conditions.AddTo(status, r.conditions)
	for _, v := range r.versions {
		status.WithVersions(configv1ac.OperandVersion().WithName(v.Name).WithVersion(v.Version))
	}
	for _, o := range r.related {
		status.WithRelatedObjects(configv1ac.ObjectReference().WithGroup(o.Group).WithResource(o.Resource).
			WithNamespace(o.Namespace).WithName(o.Name))
	}
	written, err := s.ClusterOperators.ApplyStatus(ctx, configv1ac.ClusterOperator(ClusterOperatorName).WithStatus(status),
		metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("writing the status of ClusterOperator %s: %w", ClusterOperatorName, err)
	}
	s.written = written
	return nil
}

// operator is the newest ClusterOperator known, nil if there is none.
func (s *Store) operator(ctx context.Context) (*configv1.ClusterOperator, error) {
	cached := &configv1.ClusterOperator{}
	found, err := read(ctx, s.Client, client.ObjectKey{Name: ClusterOperatorName}, cached)
	if err != nil {
		return nil, err
	}
	if !found {
		return s.writtenStillThere(ctx)
	}
	if s.written != nil && s.written.UID == cached.UID {
		if order, err := resourceversion.CompareResourceVersion(s.written.ResourceVersion, cached.ResourceVersion); err == nil && order > 0 {
			return s.written, nil
		}
	}
	return cached, nil
}

// writtenStillThere asks the API server about a ClusterOperator that the cache
// does not show: either it was deleted, or this store has just created it and
// the cache does not know yet.
func (s *Store) writtenStillThere(ctx context.Context) (*configv1.ClusterOperator, error) {
	if s.written == nil {
		return nil, nil
	}
	live := &configv1.ClusterOperator{}
	err := s.Live.Get(ctx, client.ObjectKey{Name: ClusterOperatorName}, live)
	switch {
	case apierrors.IsNotFound(err):
		live = nil
	case err != nil:
		return nil, fmt.Errorf("reading ClusterOperator %s: %w", ClusterOperatorName, err)
	}
	s.written = live
	return live, nil
}

func (s *Store) create(ctx context.Context) (*configv1.ClusterOperator, error) {
	created, err := s.ClusterOperators.Create(ctx,
		&configv1.ClusterOperator{ObjectMeta: metav1.ObjectMeta{Name: ClusterOperatorName}}, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		created, err = s.ClusterOperators.Get(ctx, ClusterOperatorName, metav1.GetOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("creating ClusterOperator %s: %w", ClusterOperatorName, err)
	}
	s.written = created
	return created, nil
}

func extension(operator *configv1.ClusterOperator) map[string]json.RawMessage {
	var entries map[string]json.RawMessage
	if json.Unmarshal(operator.Status.Extension.Raw, &entries) != nil {
		return nil
	}
	return entries
}

// sameJSON compares values, not texts: the API server orders keys its own way.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
