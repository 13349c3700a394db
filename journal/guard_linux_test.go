package journal

import "testing"

func TestNetworkFileSystems(t *testing.T) {
	t.Parallel()
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x01021997: "9p",
		0x5346414f: "AFS", 0x6b414653: "AFS", 0x00c36400: "Ceph", 0x65735546: "FUSE",
		0x73757245: "Coda", 0x564c: "NCP", 0x47504653: "GPFS", 0x0bd00bd0: "Lustre",
		0xef53: "", 0x9123683e: "", 0x58465342: "", 0x01021994: "", 0x794c7630: "", // ext4 btrfs xfs tmpfs overlay
	} {
		if got := networkMagic(magic); got != want {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}
