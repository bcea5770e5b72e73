package main

import (
	"os"
	"strings"
	"testing"
)

func TestConsoleKeepsTheStatusApart(t *testing.T) {
	var out strings.Builder
	con := newConsole(&out)
	con.show("10%")
	con.show("20%")
	con.log(false).Warn("careful", "n", 1)
	con.show("30%")
	con.clear()
	con.clear()
	want := eraseLine + "10%" + eraseLine + "20%" + eraseLine + "level=WARN msg=careful n=1\n" + eraseLine + "30%" + eraseLine
	if out.String() != want {
		t.Errorf("wrote %q, want %q", out.String(), want)
	}
}

func TestConsoleHush(t *testing.T) {
	var out strings.Builder
	con := newConsole(&out)
	log := con.log(true)
	log.Debug("one")
	con.hush()
	log.Warn("two")
	if got, want := out.String(), "level=DEBUG msg=one\n"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestIsTerminal(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/f")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) || isTerminal(&strings.Builder{}) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}
