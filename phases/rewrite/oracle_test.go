package rewrite_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/capstan-capi/capstan/phases/rewrite"
)

// What the package does in one pass over text is done here again, slowly and in
// another way: over decoded values, by expressions over paths. A path has ".key"
// for each key and "#" for each index.

var (
	oracleGroup = regexp.MustCompile(`^((?:(?:infrastructure|controlplane|bootstrap|addons|ipam|runtime)\.)?)` +
		`(platform-native\.cluster\.x-k8s\.io|cluster\.x-k8s\.io|cluster\.hypershift\.openshift\.io)((?:/[^/]+)?)$`)
	oracleRun = regexp.MustCompile(`[A-Za-z0-9.-]+`)
)

func oracleGroups(d rewrite.Direction, text string) string {
	parts := oracleGroup.FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	swap := map[string]string{
		"cluster.x-k8s.io":                 "cluster.hypershift.openshift.io",
		"platform-native.cluster.x-k8s.io": "cluster.x-k8s.io",
		"cluster.hypershift.openshift.io":  "platform-native.cluster.x-k8s.io",
	}
	if d == rewrite.ToServer {
		return parts[1] + swap[parts[2]] + parts[3]
	}
	for from, to := range swap {
		if to == parts[2] {
			return parts[1] + from + parts[3]
		}
	}
	return text
}

func oracleName(d rewrite.Direction, text string) string {
	plural, group, found := strings.Cut(text, ".")
	if !found || plural == "" || strings.Contains(group, "/") {
		return text
	}
	return plural + "." + oracleGroups(d, group)
}

func oracleMessage(text string) string {
	return oracleRun.ReplaceAllStringFunc(text, func(run string) string {
		word := strings.TrimRight(run, ".")
		plural, group, found := strings.Cut(word, ".")
		for _, candidate := range []string{word, group} {
			whole := candidate == word
			if (whole || found && plural != "") && strings.HasSuffix(candidate, "cluster.hypershift.openshift.io") && oracleGroup.MatchString(candidate) {
				return strings.TrimSuffix(word, candidate) + oracleGroups(rewrite.ToClient, candidate) + run[len(word):]
			}
		}
		return run
	})
}

const (
	oracleOwners = `\.metadata\.(ownerReferences|managedFields)#\.apiVersion`
	oracleRules  = `(resourceRules|excludeResourceRules)#\.apiGroups#`
)

var oracleGroupPlaces = map[rewrite.Class]string{
	rewrite.OtherKinds:            oracleOwners,
	rewrite.Definitions:           oracleOwners + `|\.spec\.group`,
	rewrite.AccessReviews:         oracleOwners + `|\.spec\.resourceAttributes\.group`,
	rewrite.RulesReviews:          oracleOwners + `|\.status\.resourceRules#\.apiGroups#`,
	rewrite.WebhookConfigurations: oracleOwners + `|\.webhooks#\.rules#\.apiGroups#`,
	rewrite.AdmissionPolicies:     oracleOwners + `|\.spec\.(matchConstraints|matchResources)\.` + oracleRules + `|\.spec\.paramKind\.apiVersion`,
	rewrite.Events:                oracleOwners + `|\.(involvedObject|related)\.apiVersion`,
	rewrite.EventsV1:              oracleOwners + `|\.(regarding|related)\.apiVersion`,
	rewrite.Autoscalers:           oracleOwners + `|\.spec\.scaleTargetRef\.apiVersion`,
}

var oracleShapes = map[string]string{"object": "", "list": `\.items#`, "watch": `\.object`}

// oracle rewrites decoded values of a class.
type oracle struct {
	d      rewrite.Direction
	class  rewrite.Class
	shape  string
	places *regexp.Regexp
	names  *regexp.Regexp
}

var oracles sync.Map

func newOracle(d rewrite.Direction, class rewrite.Class, shape string) *oracle {
	key := oracle{d: d, class: class, shape: shape}
	if known, found := oracles.Load(key); found {
		return known.(*oracle)
	}
	made, start := key, "^"+oracleShapes[shape]
	made.places = regexp.MustCompile(start + "(" + oracleGroupPlaces[class] + ")$")
	made.names = regexp.MustCompile(start + `\.metadata\.name$`)
	oracles.Store(key, &made)
	return &made
}

func (o *oracle) text(path, key, text string, around map[string]any) string {
	switch {
	case o.class == rewrite.MappedKinds && o.shape == "watch" && !strings.HasPrefix(path, "\x00.object\x00"):
		return text
	case o.class == rewrite.MappedKinds && (key == "apiVersion" || key == "apiGroup") && !inside(path, "labels", "annotations", "fieldsV1"):
		return oracleGroups(o.d, text)
	case o.class == rewrite.MappedKinds:
		return text
	case o.places.MatchString(path):
		return oracleGroups(o.d, text)
	case o.class == rewrite.Definitions && o.names.MatchString(path):
		return oracleName(o.d, text)
	case o.class == rewrite.AccessReviews && strings.HasSuffix(path, ".spec.resourceAttributes.name") && o.places.MatchString(strings.TrimSuffix(path, "name")+"group") &&
		around["group"] == "apiextensions.k8s.io" && around["resource"] == "customresourcedefinitions":
		return oracleName(o.d, text)
	}
	return text
}

func inside(path string, keys ...string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return r == '\x00' }), func(step string) bool {
		return slices.Contains(keys, strings.TrimPrefix(step, "."))
	})
}

// value rewrites a value: path is for expressions, trail has each step between
// zero bytes.
func (o *oracle) value(path, trail, key string, value any, around map[string]any) any {
	switch value := value.(type) {
	case string:
		if o.class == rewrite.MappedKinds {
			return o.text(trail, key, value, around)
		}
		return o.text(path, key, value, around)
	case []any:
		rewritten := make([]any, len(value))
		for i, item := range value {
			rewritten[i] = o.value(path+"#", trail+"\x00#", "", item, nil)
		}
		if o.class == rewrite.RulesReviews && strings.HasSuffix(path, ".resourceNames") && o.places.MatchString(strings.TrimSuffix(path, "resourceNames")+"apiGroups#") &&
			has(around["apiGroups"], "apiextensions.k8s.io") && has(around["resources"], "customresourcedefinitions") {
			for i, item := range rewritten {
				if name, is := item.(string); is {
					rewritten[i] = oracleName(o.d, name)
				}
			}
		}
		return rewritten
	case map[string]any:
		rewritten := make(map[string]any, len(value))
		for key, item := range value {
			step := key
			if strings.ContainsAny(key, ".#\n") {
				step = "strange"
			}
			rewritten[key] = o.value(path+"."+step, trail+"\x00."+strings.ReplaceAll(key, "\x00", "0"), key, item, value)
		}
		return rewritten
	}
	return value
}

func has(list any, text string) bool {
	items, _ := list.([]any)
	return slices.Contains(items, any(text))
}

// decodeAll decodes all documents of a text.
func decodeAll(text []byte) ([]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var all []any
	for {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("decoding: %w", err)
		}
		all = append(all, value)
	}
}

// depth is how deep a text is.
func depth(text []byte) int {
	decoder := json.NewDecoder(bytes.NewReader(text))
	deep, deepest := 0, 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			deep++
		case json.Delim('}'), json.Delim(']'):
			deep--
		}
		deepest = max(deepest, deep)
	}
}
