// Package collecting is the logic of `capstan-provider collect`: it stores what the installer has made in the pod beside it. It refuses
// to touch more than the one Secret that it is named, to store a config that Ignition would refuse, and to give out a log with a secret
// in it.
package collecting
