package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
)

var errNoNamespace = errors.New("this platform has no PID namespaces")

// NamespaceAttr is a process group of its own: there is no namespace here.
func NamespaceAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ProbeNamespace says that there is none.
func ProbeNamespace(context.Context, []string) error { return errNoNamespace }

// NSInit cannot be the first process of a namespace here.
func NSInit([]string) int {
	fmt.Fprintln(os.Stderr, "belay:", errNoNamespace)
	return 127
}
