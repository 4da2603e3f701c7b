// Package inventory holds what each revision applied: a ConfigMap per revision, written before the revision's first
// object. It knows how inventories are stored and read, which objects only older revisions have (orphans), which objects
// nobody lists (strays), and how to rebuild the inventory of a revision that has none. It sends nothing; whoever holds
// the engine's lock hands it what was seen.
package inventory
