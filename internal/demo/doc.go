// Package demo makes the broadcast that the demo's page shows: moving pictures
// without a video codec. Each frame of the track is its send time (see
// synthetic.Stamp) followed by a JPEG.
package demo
