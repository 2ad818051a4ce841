package store

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs f on a thread whose file accesses are those of another user,
// for modes mean nothing to root. For anybody else modes are enough.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its user
		_ = unix.Setfsuid(65534)
		f()
	}()
	<-done
}

// reachable makes a folder that other users can reach.
func reachable(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "rpctop-store-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700); _ = os.RemoveAll(dir) })
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		var st syscall.Stat_t
		if err := syscall.Stat(d, &st); err == nil && d != dir && st.Mode&0o005 != 0o005 {
			t.Skipf("%s lets no other user pass", d)
		}
	}
	return dir
}

func TestAReadOnlyFolderHasItsOwnMessage(t *testing.T) {
	dir := reachable(t)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		_, err := OpenHistory(dir, Options{})
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "must be writable") {
			t.Errorf("history: %v", err)
		}
		if _, err := OpenJournal(filepath.Join(dir, "below"), Options{}); !errors.Is(err, ErrReadOnly) {
			t.Errorf("journal in a folder that cannot be made: %v", err)
		}
	})
}

func TestAReaderWithoutTheRightToWriteIsToldWhy(t *testing.T) {
	dir := reachable(t)
	if err := openHistory(t, dir, Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "history.db"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		r, err := OpenHistoryReader(dir)
		if err == nil {
			_ = r.Close()
		}
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "nobody writes to it") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheKindsOfNetworkFileSystemHaveNames(t *testing.T) {
	for magic, want := range map[uint32]string{0x6969: "NFS", 0xff534d42: "SMB/CIFS", 0x65735546: "FUSE", 0xef53: "", 0x01021994: ""} {
		if got := networkFSName(magic); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%#x is %q, want %q", magic, got, want)
		}
	}
}
