// Package ignition is the one room of a payload that knows Ignition: it renders the configs that machines are started with, in
// spec 3.2.0, merges what people add by Ignition's own rules, makes the small configs that point at others, and parses each
// before anybody gets it. It is pure: no client, no clock, no randomness.
//
// A config holds keys and passwords. No error quotes a value of one: it names fields, lines and reasons of Ignition that are
// fixed texts.
package ignition
