// Package session runs the MoQ protocol engines over a small Conn interface.
package session
