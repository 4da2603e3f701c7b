package harness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/capstan-capi/capstan/e2e/cluster"
)

// UsesVariable names the folder in which environments leave what operator and checker did in them; without it they leave nothing.
const UsesVariable = "E2E_USES"

// Use is what a request of a ServiceAccount of deploy was answered by a rule of RBAC for, or was refused for want of one.
type Use struct {
	Account                                string
	Verb, Group, Resource, Namespace, Name string
	Refused                                bool
}

// accounts are those whose rights deploy brings, by the user agent of what runs as them: specs borrow their names, and are
// refused for their own reasons.
var accounts = []struct{ agent, user, name string }{
	{UserAgent, operatorUser, ServiceAccount},
	{WebhooksUserAgent, webhooksUser, WebhooksAccount},
}

// UsesOf are the different uses among requests: those of operator and checker, whatever process played them. An apply that made
// the object used the right to create it as well.
func UsesOf(requests cluster.RequestList) []Use {
	known := map[Use]bool{}
	var uses []Use
	note := func(u Use) {
		if !known[u] {
			known[u] = true
			uses = append(uses, u)
		}
	}
	for _, account := range accounts {
		for _, r := range requests.By(account.agent) {
			if r.User != account.user || r.Resource == "" {
				continue
			}
			u := Use{
				Account: account.name, Verb: r.Verb, Group: r.APIGroup, Resource: strings.Trim(r.Resource+"/"+r.Subresource, "/"),
				Namespace: r.Namespace, Name: r.Name, Refused: r.Unauthorized,
			}
			note(u)
			if u.Verb == "patch" && r.IsCreation() {
				u.Verb = "create"
				note(u)
			}
		}
	}
	return uses
}

// keepUses leaves what operator and checker did.
func (e *Environment) keepUses() error {
	folder := os.Getenv(UsesVariable)
	if folder == "" {
		return nil
	}
	requests, err := cluster.Requests(e.Cluster.AuditLog())
	if err != nil {
		return err
	}
	text, err := json.Marshal(UsesOf(requests))
	if err != nil {
		return fmt.Errorf("writing what operator and checker did: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("making the folder of what operator and checker did: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, filepath.Base(e.Cluster.Dir())+".json"), text, 0o644); err != nil {
		return fmt.Errorf("writing what operator and checker did: %w", err)
	}
	return nil
}
