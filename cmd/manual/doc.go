// Package manual writes manual pages of the commands of a binary, which say what --help says. It knows none of them.
package manual
