// Package golden says what boot image a target should have, or why none: it reads the golden ConfigMap, finds the image of a
// target's platform, architecture and region, and writes down the edit that leads there. It is pure: no client, no context, no
// clock. It edits nothing but image references, decides nothing about when a target moves, and compares no versions.
package golden
