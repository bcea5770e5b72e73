//go:build !linux

package demo

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }
