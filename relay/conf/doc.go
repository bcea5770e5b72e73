// Package conf is the relay's configuration: one documented struct, [Relay],
// with a field for each setting.
//
// [Load] merges command line, environment and file; [Relay.Validate] finds
// what is wrong with the result; [Changes] tells which settings a reload can
// apply. Files written for either generation of the Rust relay load: today's
// names are canonical, the released ones are listed in released.go and warn.
//
// Paths in a file are taken as they are, that is relative to the working
// directory of the process and not to the file.
package conf
