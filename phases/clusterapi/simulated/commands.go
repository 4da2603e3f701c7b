package simulated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	operatorv1alpha1 "github.com/openshift/api/operator/v1alpha1"

	guards "github.com/capstan-capi/capstan/guards/clusterapi"
	"github.com/capstan-capi/capstan/machine"
	"github.com/capstan-capi/capstan/phases/acts"
	phases "github.com/capstan-capi/capstan/phases/clusterapi"
	"github.com/capstan-capi/capstan/phases/engine"
)

// Args are the arguments of a command, by their names; those that have no value are empty.
type Args map[string]string

func (a Args) has(name string) bool {
	_, has := a[name]
	return has
}

// Do runs a command of a story, and returns what it prints:
//
//	cluster release=             all that a first installation of a release needs
//	clusterapi [gone]            creates the ClusterAPI, or deletes it
//	platform [gone]              Infrastructure says what the platform is, or not
//	release name= [fetching]     lists the images of a release; [by-tag] one by tag instead, [empty] none; [for=] says whose operator follows the list
//	former [running|ending|gone] the installer that OpenShift shipped before runs, has a Lease left, or has ended
//	images release= [fetching]   its images are being fetched, or have arrived
//	image release= name= error= [terminal]   one image fails
//	spec [unmanaged=]            the spec is another generation
//	retry, consent [uninstall=]  annotate the ClusterAPI; [text=] says something in place of a consent to uninstall, unconsent takes one back
//	pause for= [text=]           pauses the machine, or says something that is no act; resume takes it back
//	pin revision= [for=]         pins the images of a revision, without a time as a rollback; unpin takes it back
//	status                       edits ClusterAPI.status: [clear-current] [enlist= number= [foreign] [forged] [current]] [unlist=] [unlist-desired] [observed=] [wiped]
//	fill releases= [forged]      lists a revision of a release by hand until there are sixteen
//	objects release= number=     another installer has applied a revision of a release
//	engine                       [steps=] [unseen=] [error=] [lost] inventories; without any: heals
//	object name=                 [probe=] [refused=] [error= [terminal]] [contested= by=] [drifted] [deleted] [data=] [finalizer=] [released]
//	occupy kind= namespace= name= by=   somebody else has an object; vacate name= takes it away
//	definition name= [missing=] [unjudged] [gone]   how a definition stands that others install; without any: as it is needed
//	requirements [unserved]      the kind of requirements is not served, or is
//	record state= [came-from=] [on=]    forges the stored record
//	api [down]                   ClusterAPI.status cannot be written, or can
//	caches [lag]                 the operator's caches lag, or not
//	show, calls                  print what there is, and what was asked of the engine
func (c *Cluster) Do(command string, args Args) (string, error) {
	do, known := map[string]func(Args) string{
		"cluster": c.doCluster, "clusterapi": c.doClusterAPI, "platform": c.doPlatform, "release": c.doRelease, "former": c.doFormer, "images": c.doImages, "image": c.doImage, "spec": c.doSpec,
		"retry": c.doRetry, "consent": c.doConsent, "unconsent": c.doUnconsent, "pause": c.doPause, "resume": c.doResume, "pin": c.doPin, "unpin": c.doUnpin, "status": c.doStatus, "engine": c.doEngine, "object": c.doObject, "occupy": c.doOccupy, "fill": c.doFill, "objects": c.doObjects,
		"vacate": c.doVacate, "record": c.doRecord, "api": c.doAPI, "caches": c.doCaches, "definition": c.doDefinition, "requirements": c.doRequirements, "show": c.doShow, "calls": c.doCalls,
	}[command]
	if !known {
		return "", errors.New("no such command")
	}
	return do(args), nil
}

func (c *Cluster) doCluster(args Args) string {
	c.CreateClusterAPI()
	c.SetPlatform(true)
	return c.doRelease(Args{"name": args["release"]})
}

func (c *Cluster) doClusterAPI(args Args) string {
	if args.has("gone") {
		c.DeleteClusterAPI()
	} else {
		c.CreateClusterAPI()
	}
	return ""
}

func (c *Cluster) doPlatform(args Args) string {
	c.SetPlatform(!args.has("gone"))
	return ""
}

func (c *Cluster) doFormer(args Args) string {
	c.FormerInstaller(args.has("running"), args.has("ending"))
	return ""
}

func (c *Cluster) doRelease(args Args) string {
	if args.has("for") {
		c.ListFor(args["for"])
	}
	switch {
	case !args.has("name") && args.has("for"):
		return ""
	case args.has("by-tag"):
		c.ListByTag()
		return ""
	case args.has("empty"):
		c.ListNothing()
		return ""
	}
	content := c.List(args["name"])
	if args.has("fetching") {
		c.Images.Fetching(args["name"])
	}
	return fmt.Sprintf("%s renders to content %s\n", args["name"], content[:8])
}

func (c *Cluster) doImages(args Args) string {
	if args.has("fetching") {
		c.Images.Fetching(args["release"])
	} else {
		c.Images.Arrived(args["release"])
	}
	c.announce()
	return ""
}

func (c *Cluster) doImage(args Args) string {
	c.Images.Failing(args["release"], args["name"], args["error"], args.has("terminal"))
	c.announce()
	return ""
}

func (c *Cluster) doSpec(args Args) string {
	if args.has("unmanaged") {
		c.Unmanage(strings.Fields(args["unmanaged"])...)
	} else {
		c.TouchSpec()
	}
	return ""
}

func (c *Cluster) doRetry(Args) string {
	c.Annotate(phases.RetryAnnotation, c.Now().String())
	return ""
}

func (c *Cluster) doConsent(args Args) string {
	if args.has("text") {
		c.Annotate(acts.UninstallAct, args["text"])
		return ""
	}
	if args.has("uninstall") {
		c.ConsentToUninstall(args["uninstall"])
		return ""
	}
	c.ConsentToDelete()
	return ""
}

func (c *Cluster) doUnconsent(Args) string {
	c.change(func(api *operatorv1alpha1.ClusterAPI) { delete(api.Annotations, acts.UninstallAct) })
	return ""
}

func (c *Cluster) doPause(args Args) string {
	if args.has("text") {
		c.Annotate(acts.Annotation(acts.Pause), args["text"])
		return ""
	}
	lasts, err := time.ParseDuration(args["for"])
	must(err)
	c.Pause(c.Now(), lasts)
	return ""
}

func (c *Cluster) doResume(Args) string {
	c.Resume()
	return ""
}

func (c *Cluster) doPin(args Args) string {
	number, err := strconv.ParseInt(args["revision"], 10, 64)
	must(err)
	lasts := time.Duration(0)
	if args.has("for") {
		lasts, err = time.ParseDuration(args["for"])
		must(err)
	}
	c.Pin(number, c.Now(), lasts)
	return ""
}

func (c *Cluster) doUnpin(Args) string {
	c.Unpin()
	return ""
}

func (c *Cluster) doStatus(args Args) string {
	number, _ := strconv.ParseInt(args["number"], 10, 64)
	if args.has("wiped") {
		c.Wipe()
	}
	if args.has("clear-current") {
		c.ClearCurrent()
	}
	switch {
	case args.has("enlist") && args.has("forged"):
		c.EnlistUnproven(args["enlist"], number, false)
	case args.has("enlist"):
		c.Enlist(args["enlist"], number, args.has("foreign"))
	}
	if args.has("current") {
		c.MakeCurrent(number)
	}
	if observed, _ := strconv.ParseInt(args["observed"], 10, 64); observed > 0 {
		c.EditStatus(func(status *operatorv1alpha1.ClusterAPIStatus) { status.ObservedRevisionGeneration = observed })
	}
	if count, _ := strconv.Atoi(args["unlist"]); count > 0 {
		c.Unlist(count)
	}
	if args.has("unlist-desired") {
		c.UnlistDesired()
	}
	return ""
}

func (c *Cluster) doFill(args Args) string {
	enlist := c.Enlist
	if args.has("forged") {
		enlist = c.EnlistUnproven
	}
	for c.api(context.Background()) != nil && len(c.api(context.Background()).Status.Revisions) < guards.MaxRevisions {
		enlist(args["releases"], c.desired().Revision+1, false)
	}
	return ""
}

func (c *Cluster) doObjects(args Args) string {
	number, _ := strconv.ParseInt(args["number"], 10, 64)
	for _, component := range c.content(args["release"]).Components {
		for _, o := range component.Objects {
			key := engine.KeyOf(o)
			there := c.Engine.newObject(key)
			there.number = number
			c.Engine.objects[key.String()] = there
		}
	}
	return ""
}

func (c *Cluster) doEngine(args Args) string {
	if len(args) == 0 {
		c.Engine.Heal()
	}
	if args.has("steps") {
		steps, _ := strconv.Atoi(args["steps"])
		c.Engine.Steps(steps)
	}
	if args.has("unseen") {
		c.Engine.Unseen(args["unseen"])
	}
	if args.has("error") {
		c.Engine.Break(args["error"])
	}
	if args.has("lost") {
		c.Engine.LoseInventories()
	}
	return ""
}

func (c *Cluster) doObject(args Args) string {
	e, name := c.Engine, args["name"]
	instances, _ := strconv.ParseInt(args["data"], 10, 64)
	for arg, do := range map[string]func(){
		"probe": func() { e.Probe(name, args["probe"]) }, "refused": func() { e.Refuse(name, args["refused"]) },
		"error":     func() { e.Fail(name, args["error"], args.has("terminal")) },
		"contested": func() { e.Contest(name, args["contested"], args["by"]) }, "drifted": func() { e.Drift(name) },
		"deleted": func() { e.Remove(name) }, "data": func() { e.Fill(name, instances) },
		"finalizer": func() { e.Bind(name, args["finalizer"]) }, "released": func() { e.Release(name) },
	} {
		if args.has(arg) {
			do()
		}
	}
	return ""
}

func (c *Cluster) doOccupy(args Args) string {
	c.Engine.Occupy(args["kind"], args["namespace"], args["name"], args["by"])
	return ""
}

func (c *Cluster) doVacate(args Args) string {
	c.Engine.Vacate(args["name"])
	return ""
}

func (c *Cluster) doRecord(args Args) string {
	record := machine.Record{
		State: machine.State(args["state"]), Since: c.Now(), CameFrom: machine.State(args["came-from"]), LastEvent: machine.Event(args["on"]),
		Progress: machine.Progress{Since: c.Now()},
	}
	text, err := json.Marshal(record)
	must(err)
	c.Forge(text)
	return ""
}

func (c *Cluster) doAPI(args Args) string {
	c.FailWrites(args.has("down"))
	return ""
}

func (c *Cluster) doCaches(args Args) string {
	if args.has("lag") {
		c.Freeze()
	} else {
		c.Thaw()
		c.announce()
	}
	return ""
}

func (c *Cluster) doShow(Args) string {
	var b strings.Builder
	if api := c.api(context.Background()); api == nil {
		b.WriteString("no ClusterAPI\n")
	} else {
		b.WriteString("listed:" + listOf(api.Status) + "\n")
	}
	return b.String() + c.Engine.String()
}

func listOf(status operatorv1alpha1.ClusterAPIStatus) string {
	text := ""
	for _, entry := range status.Revisions {
		text += " " + string(entry.Name)
		if entry.Name == status.CurrentRevision {
			text += " (current)"
		}
	}
	return text
}

func (c *Cluster) doCalls(Args) string {
	text := ""
	for _, call := range c.Engine.Calls() {
		text += call + "\n"
	}
	return text
}
