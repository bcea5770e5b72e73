// Package source keeps the last good value of something that lives outside the process: a file, several files that
// belong together, or an HTTP(S) address. Peer lists, key sets, certificates and fleet files are read through it.
//
// A [Source] parses what it reads and publishes the result in one atomic swap. When the location is gone, slow, broken
// or holds something the parser refuses, the value in use stays, for ever if need be; [Status] tells how old it is and why.
//
// Files are watched through their directories, along every symbolic link that leads to them, and read again every
// period whether or not the watch saw anything. Addresses are asked once a period; what they say of their freshness
// decides whether a check costs a request.
//
// [Source.Run] is the only thing that works in the background, and it blocks until its context ends.
package source
