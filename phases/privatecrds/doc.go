// Package privatecrds makes the private definitions, roles and webhook configurations of Cluster API out of the upstream ones:
// another name and group, conversion and admission by the shim, and whatever would tie them to the platform's own Cluster API
// taken off. It is pure: it reads no cluster, and applies nothing. It refuses what it cannot move faithfully: a group that stands
// as a literal in a default, an enum, a pattern or a rule, which the shim and the proxy would never see.
package privatecrds
