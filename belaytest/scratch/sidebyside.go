package scratch

import (
	"flag"
	"runtime"
	"strconv"
)

// SideBySide lets more tests run at a time than there are cores, for rooms whose
// tests wait most of their time: for processes, pauses and clocks. What is asked
// for on the command line stays.
func SideBySide() error {
	const times, most = 4, 64 // each of them can be several processes
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if asked {
		return nil
	}
	return flag.Set("test.parallel", strconv.Itoa(min(times*runtime.GOMAXPROCS(0), most)))
}
