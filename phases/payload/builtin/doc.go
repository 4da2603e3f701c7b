// Package builtin composes a payload in process and offline: of inputs, keys that are stored already, and a few facts about the
// cluster. It is pure: the same of these give the same bytes, in whatever order manifests come.
//
// The bootstrap machine gets all manifests in /opt/openshift/{manifests,openshift}, those that it makes of the install-config among
// them; authorities and certificates in /opt/openshift/tls; a kubeconfig in /opt/openshift/auth; the pull secret, SSH keys, mirrors,
// proxy, and a unit that fetches the release image. Masters and workers get configs that point at the machine-config server.
//
// OpenShift's own bootstrap program is not in it: who wants to boot a release adds it by overrides, or has the installer compose the
// payload. What people give wins nothing over what is made of the install-config: a manifest may add fields to it, and is refused
// where it contradicts it.
package builtin
