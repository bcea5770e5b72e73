// Package qmux is the codec of qmux: QUIC streams carried over one reliable
// channel (moq-lite wire reference §2.6). It turns frames into bytes and back
// and knows no connection state. All integers are QUIC varints.
//
//	type              frame                    fields
//	0x00              PADDING                  -                                        01, 02
//	0x04              RESET_STREAM             id, code, final size
//	0x05              STOP_SENDING             id, code
//	0x08-0x0f         STREAM                   id, [offset: 0x04], [length: 0x02], data; FIN: 0x01
//	0x10              MAX_DATA                 max
//	0x11              MAX_STREAM_DATA          id, max
//	0x12, 0x13        MAX_STREAMS bidi, uni    max
//	0x14              DATA_BLOCKED             limit
//	0x15              STREAM_DATA_BLOCKED      id, limit
//	0x16, 0x17        STREAMS_BLOCKED          limit
//	0x1c              CONNECTION_CLOSE         code, frame type, reason length, reason
//	0x1d              APPLICATION_CLOSE        code, reason length, reason
//	0x24              RESET_STREAM_AT          id, code, final size, reliable size      02
//	0x30, 0x31        DATAGRAM                 [length: 0x31], data                     01, 02
//	0x348c67529ef8c7bd, ..be  QX_PING          sequence                                 01, 02
//	0x3f5153300d0a0d0a        QX_TRANSPORT_PARAMETERS  length, parameters
//
// The legacy framing, sub-protocol "webtransport", has four of them in a shorter form:
//
//	0x08, 0x09        STREAM (0x09: FIN)       id, data to the end
//	0x04, 0x05        RESET_STREAM, STOP_SENDING  id, code
//	0x1c, 0x1d        close                    code, reason to the end
//
// A [Reader] walks the frames of one message; every frame type has an Append
// method for the way out.
package qmux
