package engine

import (
	"os"
	"testing"

	"github.com/belay-run/belay/belaytest/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.None(m.Run)) }
