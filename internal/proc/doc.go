// Package proc reads what the Linux kernel tells about processes and memory: [Read] for one process, [ReadMemory] for
// what this process may use, control group limits included. On systems without /proc both return an error that wraps
// fs.ErrNotExist.
//
// Parsers are pure; the readers take any fs.FS underneath, so that tests bring their own kernel.
package proc
