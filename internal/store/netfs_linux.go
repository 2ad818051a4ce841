package store

import "golang.org/x/sys/unix"

// networkFS names the network file system on which the folder lies; "" for a
// local one, or if it cannot be told.
func networkFS(dir string) string {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return ""
	}
	return networkFSName(uint32(st.Type)) //nolint:gosec // magic numbers have 32 bits
}

func networkFSName(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB/CIFS"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE, behind which a network may be"
	}
	return ""
}
