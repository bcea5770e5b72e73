// Package qmux multiplexes streams and datagrams over one reliable channel of
// messages, such as a WebSocket: a [session.Conn] where QUIC cannot pass
// (moq-lite wire reference §2.6).
//
// A [Conn] comes from [New] and does nothing until its caller runs [Conn.Run],
// which blocks for the life of the connection and owns its goroutines: one
// reads the [Pipe], one writes it, one keeps time. Nobody else touches the
// pipe, so a peer that stops reading holds up the writing goroutine and, once
// the queue is full, those who Write; TryWrite, Reset and Close never wait.
//
// What is bounded:
//
//   - data received and not yet read: by the windows we grant, Config.ConnWindow
//     for the connection and Config.StreamWindow for a stream. A peer that sends
//     more is closed.
//   - data queued and not yet sent: Config.QueueBytes. Write fills at most half,
//     so that bulk data leaves room for TryWrite.
//   - streams opened by the peer: Config.MaxStreams and MaxUniStreams. A slot
//     comes back when the stream is over in both directions, so a stream must be
//     read to its end or stopped, and closed or reset.
//   - datagrams each way: 64, the oldest received and the newest sent dropped.
//
// The sender takes credit when it queues: what is queued may always be sent,
// and urgency alone decides the order. The lowest urgency goes first; within
// one urgency streams take turns, a record each.
//
// Versions qmux-00 to 02 have flow control both ways. The legacy framing has
// none: there only our own bounds hold.
package qmux
