// Package support is the logic of `capstan support`: it collects for a bug report what an allowlist names, from typed fields, and
// reads such an archive as if it were the cluster. It sends nothing but GETs, asks for no Secret and for no instance of Cluster
// API, and decides nothing.
package support

// The parts of an archive, by their names; inventories and logs have a part for each, below a folder.
const (
	versionsPart     = "versions.json"
	clusterPart      = "clusterversion.json"
	clusterAPIPart   = "clusterapi.json"
	operatorPart     = "clusteroperator.json"
	actsPart         = "acts.json"
	requirementsPart = "requirements.json"
	recorderPart     = "recorder.jsonl"
	historyPart      = "history.json"
	inventoriesPart  = "inventories.json"
	eventsPart       = "events.json"
	podsPart         = "pods.json"
	logsFolder       = "logs/"
	definitionsPart  = "crds.json"
	managersPart     = "managedfields.json"
	planPart         = "plan.json"
)
