package stub

import (
	"maps"

	"github.com/coreos/ign-converter/translate/v24tov31"
	old "github.com/coreos/ignition/config/v2_4/types"
	"github.com/coreos/ignition/v2/config/v3_1/types"
)

// translate has the library convert a config piece by piece, and puts the pieces together again. Whole it cannot have it:
//
//   - all sources that are appended, and all certificate authorities, it makes the last one, since they are one variable, and
//     then refuses them for being there twice;
//   - of a file it knows contents or one source to append;
//   - a link it takes for the folder of all whose names begin with its name.
//
// What the pieces come to together is judged by prove.
func translate(once plain) (types.Config, error) {
	rounds := rounds(once.Storage.Files)
	result, err := piece(once.Config, rounds, 0, once.paths)
	if err != nil {
		return result, err
	}
	files := map[string]*types.File{}
	for i := range result.Storage.Files {
		files[result.Storage.Files[i].Path] = &result.Storage.Files[i]
	}
	rest := old.Config{Ignition: old.Ignition{Version: once.Ignition.Version}}
	rest.Ignition.Config.Append = once.Ignition.Config.Append
	rest.Ignition.Security.TLS.CertificateAuthorities = once.Ignition.Security.TLS.CertificateAuthorities
	rest.Storage.Links = once.Storage.Links
	pieces := max(len(rounds)+len(rest.Storage.Links), len(rest.Ignition.Config.Append), len(rest.Ignition.Security.TLS.CertificateAuthorities))
	for i := 1; i < pieces; i++ {
		more, err := piece(rest, rounds, i, nil)
		if err != nil {
			return result, err
		}
		for _, f := range more.Storage.Files {
			files[f.Path].Append = append(files[f.Path].Append, f.Append...)
		}
		result.Storage.Links = append(result.Storage.Links, more.Storage.Links...)
		result.Ignition.Config.Merge = append(result.Ignition.Config.Merge, more.Ignition.Config.Merge...)
		tls := &result.Ignition.Security.TLS
		tls.CertificateAuthorities = append(tls.CertificateAuthorities, more.Ignition.Security.TLS.CertificateAuthorities...)
	}
	return result, nil
}

// piece converts a config with one item, if there is one, of each list that the library cannot have as a whole; with links once
// there are no files any more.
func piece(config old.Config, rounds [][]old.File, i int, paths map[string]string) (types.Config, error) {
	config.Ignition.Config.Append = at(config.Ignition.Config.Append, i)
	config.Ignition.Security.TLS.CertificateAuthorities = at(config.Ignition.Security.TLS.CertificateAuthorities, i)
	config.Storage.Links = at(config.Storage.Links, i-len(rounds))
	config.Storage.Files = nil
	if i < len(rounds) {
		config.Storage.Files = rounds[i]
	}
	// The library adds root to the paths that it is given.
	result, err := v24tov31.Translate(config, maps.Clone(paths))
	if err != nil {
		return result, refused(err.Error())
	}
	return result, nil
}

// at is an item of a list as a list; empty if there is none.
func at[T any](list []T, i int) []T {
	if i < 0 || i >= len(list) {
		return nil
	}
	return list[i : i+1]
}

// rounds are the first entries of all files, then their second ones, and so on. The first round is there without files, too.
func rounds(files []old.File) [][]old.File {
	all := [][]old.File{nil}
	seen := map[string]int{}
	for _, f := range files {
		n := seen[f.Path]
		seen[f.Path]++
		if n == len(all) {
			all = append(all, nil)
		}
		all[n] = append(all[n], f)
	}
	return all
}
