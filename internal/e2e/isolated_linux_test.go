package e2e

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A registry runs the plugin as a stranger in an empty image: no file but the
// binary, no network, no variable, and a user that nobody knows.
func TestIsolated(t *testing.T) {
	request := captureRequest(t)
	want := bufTree(t)

	root := t.TempDir()
	content, err := os.ReadFile(plugin)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "plugin"), content, 0o555))
	// The directory can be passed through, but neither read nor written.
	require.NoError(t, os.Chmod(root, 0o111))
	t.Cleanup(func() { _ = os.Chmod(root, 0o755) })

	for _, uid := range []uint32{65532, 1234567} {
		t.Run(fmt.Sprintf("uid %d", uid), func(t *testing.T) {
			command := exec.Command("/plugin")
			command.Dir = "/"
			command.Env = []string{}
			command.Stdin = bytes.NewReader(request)
			var output, problems bytes.Buffer
			command.Stdout, command.Stderr = &output, &problems
			command.SysProcAttr = &syscall.SysProcAttr{
				Chroot:     root,
				Cloneflags: syscall.CLONE_NEWNET,
			}
			if os.Getuid() == 0 {
				command.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
			} else {
				// In a user namespace of its own, an ordinary user may do the same.
				command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
				command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: int(uid), HostID: os.Getuid(), Size: 1}}
				command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: int(uid), HostID: os.Getgid(), Size: 1}}
			}
			err := command.Run()
			if errors.Is(err, syscall.EPERM) || os.Getuid() != 0 && errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) {
				t.Skipf("this system does not let this user isolate a process: %v", err)
			}
			require.NoError(t, err, problems.String())
			require.Empty(t, problems.String())
			requireSameTree(t, want, responseTree(t, output.Bytes()))
		})
	}
}

// An empty image has neither a dynamic linker nor libraries.
func TestStatic(t *testing.T) {
	binary, err := elf.Open(plugin)
	require.NoError(t, err)
	defer binary.Close()
	for _, program := range binary.Progs {
		require.NotEqual(t, elf.PT_INTERP, program.Type, "the binary asks for a dynamic linker")
	}
	libraries, err := binary.ImportedLibraries()
	require.NoError(t, err)
	require.Empty(t, libraries)
}
