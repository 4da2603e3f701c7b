// Package deploytest is what tests of manifests read objects with. It refuses fields that a type does not have, and is in no binary.
package deploytest
