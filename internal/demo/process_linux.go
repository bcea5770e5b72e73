package demo

import "syscall"

// attributes keep a terminal's Ctrl-C from the child, which we interrupt ourselves,
// and end it should we be killed.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
