package hostcheck

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestReadUnderLowLimit runs itself in a child that may open 64 files only.
func TestReadUnderLowLimit(t *testing.T) {
	if os.Getenv("HOSTCHECK_CHILD") != "" {
		r, err := Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Evaluate(r, Demand{Sessions: 500}) {
			t.Log(f)
		}
		return
	}
	child := exec.Command("sh", "-c", `ulimit -n 64 && exec "$0" -test.v -test.run '^TestReadUnderLowLimit$'`, os.Args[0])
	child.Env = append(os.Environ(), "HOSTCHECK_CHILD=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	if want := "open files: the limit is 64, want at least 628"; !strings.Contains(string(out), want) {
		t.Errorf("the child found %s, want %q in it", out, want)
	}
}

func TestRead(t *testing.T) {
	t.Setenv("QUIC_GO_DISABLE_GSO", "1")
	r, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	if r.OpenFiles == 0 || r.Kernel == "" || !r.GSODisabled {
		t.Errorf("Read() = %+v, want files, a kernel and the variable", r)
	}
}
