// Package hostcheck compares what the operating system grants with what a
// relay's configuration may ask for, and names the command that cures a
// shortage. [Read] takes the readings, [Evaluate] judges them and touches
// nothing.
package hostcheck
