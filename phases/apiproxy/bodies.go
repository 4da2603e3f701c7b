package apiproxy

import (
	"mime"
	"strings"

	"github.com/capstan-capi/capstan/phases/rewrite/protobuf"
)

// inJSON has a document asked for in JSON that is accepted in protobuf only, and says whether that is so.
func inJSON(accept string) (string, bool) {
	ranges := strings.Split(accept, ",")
	for i, text := range ranges {
		media, params, err := mime.ParseMediaType(text)
		if err != nil || media != protobuf.ContentType {
			return accept, false
		}
		ranges[i] = mime.FormatMediaType("application/json", params)
	}
	return strings.Join(ranges, ","), true
}
