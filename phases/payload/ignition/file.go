package ignition

import (
	"github.com/vincent-petithory/dataurl"
)

// FileOf returns what a full config has a machine write to a path, nil for nothing. A file that is fetched from elsewhere is none.
func FileOf(config []byte, path string) ([]byte, error) {
	read, err := parsed(config)
	if err != nil {
		return nil, err
	}
	for _, file := range read.Storage.Files {
		if file.Path != path || file.Contents.Source == nil || text(file.Contents.Compression) != "" {
			continue
		}
		data, err := dataurl.DecodeString(*file.Contents.Source)
		if err != nil {
			return nil, InvalidError{Why: "a file that is looked for in it is not inline"}
		}
		return data.Data, nil
	}
	return nil, nil
}
