package scratch

import "golang.org/x/sys/unix"

const (
	least = 6 << 30 // bytes that must be free there, and in the machine
	tmpfs = 0x01021994
)

// roomy tells whether memory can hold what the tests write.
func roomy() bool {
	var fs unix.Statfs_t
	var info unix.Sysinfo_t
	if unix.Statfs(memory, &fs) != nil || unix.Sysinfo(&info) != nil {
		return false
	}
	free := fs.Bavail * uint64(fs.Bsize) //nolint:gosec // never negative
	return fs.Type == tmpfs && free >= least && (info.Freeram+info.Bufferram)*uint64(info.Unit) >= least
}
