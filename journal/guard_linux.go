package journal

import "golang.org/x/sys/unix"

// networkFS is the name of the network file system that path lies on, or "".
func networkFS(path string) (string, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return "", err
	}
	return networkMagic(uint32(st.Type)), nil
}

// networkMagic knows file systems by the number that statfs gives. FUSE is
// among them because nothing tells a local one from a remote one.
func networkMagic(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517b:
		return "SMB"
	case 0xff534d42:
		return "CIFS"
	case 0xfe534d42:
		return "SMB2"
	case 0x01021997:
		return "9p"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x00c36400:
		return "Ceph"
	case 0x65735546:
		return "FUSE"
	case 0x73757245:
		return "Coda"
	case 0x564c:
		return "NCP"
	case 0x47504653:
		return "GPFS"
	case 0x0bd00bd0:
		return "Lustre"
	}
	return ""
}
