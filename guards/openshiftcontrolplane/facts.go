// Package openshiftcontrolplane holds the facts that the machine openshiftcontrolplane decides on, and the questions it asks of
// them. It says how far the installation of an OpenShift cluster has come. Nothing here looks, waits or remembers.
package openshiftcontrolplane

import (
	"cmp"
	"time"

	"github.com/capstan-capi/capstan/machine"
)

// Facts is what one look at an OpenShiftControlPlane, its Cluster, its machines and its guest has shown. Zero values mean "not
// seen".
type Facts struct {
	// Seen says that the OpenShiftControlPlane was looked at.
	Seen    bool    `yaml:"seen"`
	Object  Object  `yaml:"object"`
	Cluster Cluster `yaml:"cluster"`
	// Marks are those of the object's annotations, Noted what its status says of the same: see [Facts.Reached].
	Marks Marks  `yaml:"marks"`
	Noted Marks  `yaml:"noted"`
	Hooks []Hook `yaml:"hooks"`
	// Inputs are what people ask for, all of it, whether it is frozen or not.
	Inputs  Inputs  `yaml:"inputs"`
	Payload Payload `yaml:"payload"`
	// Certificates are the authorities of the Cluster, Done those whose Secrets are there. None is wanted where the installer makes
	// the payload, which has its own. Nothing is decided by them.
	Certificates Tally     `yaml:"-"`
	Bootstrap    Bootstrap `yaml:"bootstrap"`
	// Provisioned are the control-plane Machines that have their infrastructure, without the bootstrap's.
	Provisioned Tally `yaml:"provisioned"`
	// Kubeconfig is what the guest is asked by.
	Kubeconfig Kubeconfig `yaml:"kubeconfig"`
	// Counts are what is told of control-plane Machines, without the bootstrap's. How many there are is asked, too, whatever their names
	// are.
	Counts Counts `yaml:"counts"`
	Guest  Guest  `yaml:"guest"`
	// Upgrade, Scaling and Remediation are what an installed cluster may be asked for.
	Upgrade     Wish `yaml:"upgrade"`
	Scaling     Wish `yaml:"scaling"`
	Remediation Wish `yaml:"remediation"`
	// Attempt is what the attempt has made, Done what is gone of it: machines, payload, certificates, marks.
	Attempt Tally `yaml:"attempt"`
	// Workers are the Cluster's Machines that are not ours, which go first when it is deleted. Nothing is decided by them.
	Workers []string `yaml:"workers"`
	// Timeouts are the patience that the spec asks for, by state.
	Timeouts map[machine.State]time.Duration `yaml:"timeouts"`
	// Then is what the record remembers of how the present state was entered.
	Then Then `yaml:"-"`
}

// Object is the OpenShiftControlPlane.
type Object struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
	UID       string `yaml:"uid"`
	Deleting  bool   `yaml:"deleting"`
	// Paused says that it has Cluster API's annotation for that.
	Paused bool `yaml:"paused"`
	// Retry is the value of the annotation that asks for another try, Served the digest of the last one by which an attempt was cleared
	// away.
	Retry  string `yaml:"retry"`
	Served string `yaml:"served"`
	// Retain says that the bootstrap Machine stays.
	Retain bool `yaml:"retain"`
	// Replicas is how many control-plane machines are asked for.
	Replicas int `yaml:"replicas"`
}

func (o Object) String() string {
	if o.Namespace == "" {
		return "OpenShiftControlPlane " + o.Name
	}
	return "OpenShiftControlPlane " + o.Namespace + "/" + o.Name
}

// Cluster is the owner. Known is false until the owner references were followed; Name is empty where there is no owner.
type Cluster struct {
	Known  bool   `yaml:"known"`
	Name   string `yaml:"name"`
	Paused bool   `yaml:"paused"`
	// Platform is that of the install-config, empty while that is not known.
	Platform string `yaml:"platform"`
	// Provisioned is the contract's status.initialization.infrastructureProvisioned.
	Provisioned bool   `yaml:"provisioned"`
	Host        string `yaml:"host"`
	Port        int    `yaml:"port"`
}

// Hook is a condition on the Cluster that is waited for, before the inputs are resolved or before the bootstrap Machine goes.
type Hook struct {
	Phase     HookPhase `yaml:"phase"`
	Condition string    `yaml:"condition"`
	Met       bool      `yaml:"met"`
	// Timeout is for how long it is waited. One before the inputs are resolved may have none, and is waited for as long as the state has
	// patience.
	Timeout time.Duration `yaml:"timeout"`
	// Over says of one before the removal that its time has passed, counted from when the bootstrap was finished. While nobody knows when
	// that was, it has not.
	Over bool `yaml:"over"`
}

// HookPhase is before what a hook is waited for.
type HookPhase string

// The phases, as the API spells them.
const (
	PostInfrastructure  HookPhase = "PostInfrastructure"
	PreBootstrapRemoval HookPhase = "PreBootstrapRemoval"
)

// Inputs are what is installed. Known is false until the release, the install state, the manifests and the templates were read;
// Problems are what is wrong with them.
type Inputs struct {
	Known    bool     `yaml:"known"`
	Problems []string `yaml:"problems"`
	// Digest is of all of them as they are now.
	Digest string `yaml:"digest"`
}

// Payload is what machines are started with. Known is false until its Secrets were read.
type Payload struct {
	// Roles are the three Ignition configs, Done those that are there, whole and valid.
	Roles Tally `yaml:"roles"`
	// NotAfter is until when machines can be started with it, zero while that is not known.
	NotAfter time.Time `yaml:"notAfter"`
	// Ending says that it would end before the bootstrap has to be over.
	Ending bool `yaml:"ending"`
	// ClusterID is the UUID that the cluster is made to know itself by, empty while that is not known.
	ClusterID string `yaml:"clusterID"`
	// Log is the end of what the installer has printed in its last attempt that has failed, empty for none. It is told, and moves
	// nothing.
	Log string `yaml:"-"`
}

// Bootstrap is the bootstrap Machine. Known is false until Machines were listed, and while it cannot be read.
type Bootstrap struct {
	Known bool `yaml:"known"`
	// Problem is why it is not known, or what the last try to remove it has met.
	Problem string `yaml:"problem"`
	// UID is that of the Machine, empty where there is none. Another one of its name that is not ours is no bootstrap. Attempt is the
	// [Facts.AttemptID] that it was made with.
	UID         string `yaml:"uid"`
	Attempt     string `yaml:"attempt"`
	Provisioned bool   `yaml:"provisioned"`
	// Waits says what its config waits for, in brackets; empty where it does not, or is not known.
	Waits string `yaml:"waits"`
	// Removal is its Machine, its config and its payload, Done those that are gone.
	Removal Tally `yaml:"removal"`
}

// Counts are how many control-plane Machines there are, and how many of them say that they are ready, available and up to date.
// Known is false until Machines were listed.
type Counts struct {
	Known bool `yaml:"known"`
	// Selector chooses them, in the form of a query.
	Selector  string `yaml:"selector"`
	Replicas  int    `yaml:"replicas"`
	Ready     int    `yaml:"ready"`
	Available int    `yaml:"available"`
	UpToDate  int    `yaml:"upToDate"`
}

// Guest is the cluster that is installed.
type Guest struct {
	// API says that it has answered the last probe, APIProblem why not. An API that does not answer is one of which nothing is known.
	API        bool   `yaml:"api"`
	APIProblem string `yaml:"apiProblem"`
	// Identity tells whether it is the cluster that was made here. What follows is of one that is not known to be ours only once the bootstrap
	// is finished: its health counts then, and no mark is set, no Machine replaced and no upgrade asked for by it.
	Identity Identity `yaml:"identity"`
	// Unasked says that this process is about to ask it for the first time.
	Unasked bool `yaml:"unasked"`
	// Silent says that it has not answered for five minutes.
	Silent bool `yaml:"silent"`
	// Known says that what follows was read since.
	Known bool `yaml:"known"`
	// Complete is ConfigMap kube-system/bootstrap, EtcdAlone that etcd has lost its member on the bootstrap machine.
	Complete  bool `yaml:"complete"`
	EtcdAlone bool `yaml:"etcdAlone"`
	// Etcd says whether its members are healthy. Nothing is decided by it.
	Etcd Etcd `yaml:"-"`
	// Nodes are those of control-plane Machines, Done the ready ones.
	Nodes Tally `yaml:"nodes"`
	// Operators are the ClusterVersion and all ClusterOperators, Done those that are Available and not Degraded.
	Operators Tally `yaml:"operators"`
	// Version is that of Kubernetes, DistributionVersion that of OpenShift, empty while they are not known.
	Version             string `yaml:"version"`
	DistributionVersion string `yaml:"distributionVersion"`
}

// Etcd is the guest's etcd. Known is false until it was read; Wrong says what is wrong with it, empty for nothing.
type Etcd struct {
	Known bool
	Wrong string
}

// Kubeconfig is the Secret that the guest is asked by. Known is false until it was looked for.
type Kubeconfig struct {
	Known bool `yaml:"known"`
	// There says that it is there and can be used, Problem why it cannot.
	There   bool   `yaml:"there"`
	Problem string `yaml:"problem"`
	// External says that somebody else has made it, who renews it, too.
	External bool `yaml:"external"`
	// NotAfter is until when its certificates are valid, zero for one without. Expiring says that this is less than 30 days.
	NotAfter time.Time `yaml:"notAfter"`
	Expiring bool      `yaml:"expiring"`
}

// Wish is something that an installed cluster may be asked for. Known is false until it was looked at.
type Wish struct {
	Known bool `yaml:"known"`
	// Given tells one from another, as the spec gives it: what Asked says of the same may change, as that of a tag does. Where it is empty,
	// Asked does.
	Given string `yaml:"given"`
	// Asked says what is asked for, empty for nothing; Refused why it is not done now, and Unasked why nobody knows what it is.
	Asked   string `yaml:"asked"`
	Refused string `yaml:"refused"`
	Unasked string `yaml:"unasked"`
	// Steps are how far it has come.
	Steps Tally `yaml:"steps"`
}

// id tells what is asked for from all else, empty for nothing. Of one that was not looked at it is what is given.
func (w Wish) id() string {
	if w.Known && w.Asked == "" {
		return ""
	}
	return cmp.Or(w.Given, w.Asked)
}

// isNoted says that a fingerprint is of this wish: by what tells it apart, or, in the record of a version that knew no other, by Asked.
func (w Wish) isNoted(brief string) bool {
	return brief == Brief(w.id()) || brief == Brief(w.Asked)
}

// Tally is how far something has come that is counted. Known is false until it was counted.
type Tally struct {
	Known  bool `yaml:"known"`
	Done   int  `yaml:"done"`
	Wanted int  `yaml:"wanted"`
	// Missing says what is not done, or not as it should be; there may be more of it.
	Missing []string `yaml:"missing"`
}

// IsDone says that nothing is left to do.
func (t Tally) IsDone() bool { return t.Known && t.Done >= t.Wanted && len(t.Missing) == 0 }

// Then is how things stood when the present state was entered.
type Then struct {
	State machine.State
	From  machine.State
	Event machine.Event
	// Inputs is the fingerprint of then, see [Fingerprint]; Effect is the move whose effect has failed then, empty for none.
	Inputs string
	Effect machine.Event
	// Done is what [Progress] counted in the state before.
	Done int
	// Failing says that the work meets an error now.
	Failing bool
}

// Recall copies what the record remembers into the facts.
func Recall(f *Facts, r machine.Record, _ machine.Resumed) {
	f.Then = Then{State: r.State, From: r.CameFrom, Event: r.LastEvent, Inputs: r.Entry.Inputs, Effect: r.Entry.Effect, Done: r.Entry.Done, Failing: r.Failure != nil}
}
