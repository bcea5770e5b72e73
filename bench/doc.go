// Package bench loads relays and compares them.
//
// [Fanout] is one measurement: a publisher and many viewers, each with a session
// of its own, in this process, through any relay that an URL leads to. [Compare]
// starts several relays on one core, measures each with the same loads in turn
// on another, and yields a [Report] that is written as JSON, as a table of
// ratios and as a plot.
//
// Every frame carries its number and the moment at which it was due. Frames are
// due at a fixed rate however late the publisher runs, so that a stall counts
// against every frame it held up (coordinated omission), and the frames of the
// measured window are known by number, so that what is lost is known exactly.
package bench
