package rewrite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// How bodies are rewritten, beside what the table says: a change that makes
// other bytes of the same document has another number.
const rules = 1

// RuleHash tells apart what was rewritten by different rules. It is part of
// every ETag and OpenAPI hash that a client sees, so that nothing a client has
// kept outlives the rules that made it.
var RuleHash = ruleHash()

func ruleHash() string {
	sum := sha256.Sum256(fmt.Append(nil, rules, bases, prefixes))
	return hex.EncodeToString(sum[:4])
}

func stamp(hash string) string {
	return hash + "-" + RuleHash
}

// unstamp is the server's own hash. One that was made by other rules becomes one
// that the server never gave, so that the server says what is right.
func unstamp(hash string) string {
	own, found := strings.CutSuffix(hash, "-"+RuleHash)
	if !found {
		return "-" + hash
	}
	return own
}

// StampETag adds the rules to the ETag of an answer that is rewritten.
func StampETag(tag string) string {
	open, found := strings.CutSuffix(tag, `"`)
	if !found {
		return tag
	}
	return stamp(open) + `"`
}

// UnstampETags takes the rules off the tags of an If-None-Match or If-Match.
// Those that were made by other rules are left out: they match nothing. It is
// empty if none is left, and the header is to be left out or, for If-Match,
// the request to be refused with 412.
func UnstampETags(header string) string {
	var kept []string
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" {
			return header
		}
		if own, found := strings.CutSuffix(tag, "-"+RuleHash+`"`); found {
			kept = append(kept, own+`"`)
		}
	}
	return strings.Join(kept, ", ")
}
