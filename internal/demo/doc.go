// Package demo is what "moqmesh demo" consists of: a Publisher of moving pictures
// made without a video codec, RunProcess, which runs it and a relay as programs of
// their own, and the Page in which a browser watches.
//
// The broadcast has two tracks. Each frame of the track "video" is the time it was
// sent (see synthetic.Stamp) followed by a JPEG; a group is one second. The track
// "catalog.json" holds one frame, the Catalog that says so.
package demo
