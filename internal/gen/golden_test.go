package gen_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/ameideio/protoc-gen-ameide-agent/internal/gen/gentest"
	"github.com/ameideio/protoc-gen-ameide-agent/internal/targets"
)

// diagnosticsFile is the golden of a run that ends with errors.
const diagnosticsFile = "diagnostics.txt"

// TestGolden compares the files of every run of every case, in their order and
// byte for byte, with those in golden/.
//
// With UPDATE_GOLDEN=1 it writes them, and fails: a refresh is for people to look
// at, and must never let a build pass.
func TestGolden(t *testing.T) {
	t.Parallel()
	update := os.Getenv("UPDATE_GOLDEN") == "1"
	root := filepath.Join(gentest.Root(), "golden")
	for _, c := range gentest.Cases(t) {
		for _, run := range c.RunNames() {
			t.Run(c.Name+"/"+run, func(t *testing.T) {
				t.Parallel()
				response := gentest.Run(t, targets.All(), c.Request(t, c.Runs[run]))
				var names []string
				content := map[string]string{}
				for _, file := range response.GetFile() {
					require.Empty(t, file.GetInsertionPoint())
					names = append(names, file.GetName())
					content[file.GetName()] = file.GetContent()
				}
				if response.Error != nil {
					require.Empty(t, names, "errors and files")
					names = []string{diagnosticsFile}
					content[diagnosticsFile] = response.GetError() + "\n"
				}
				dir := filepath.Join(root, filepath.FromSlash(c.Name), run)
				if update {
					refresh(t, dir, names, content)
					return
				}
				want := tree(t, dir)
				require.Empty(t, cmp.Diff(want, names), "the ordered list of files (- golden, + generated)")
				for _, name := range names {
					data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
					require.NoError(t, err)
					if diff := cmp.Diff(string(data), content[name]); diff != "" {
						t.Errorf("%s (- golden, + generated):\n%s", name, diff)
					}
				}
			})
		}
	}
}

// TestGoldenHasNoStrangers finds goldens that no run makes any more.
func TestGoldenHasNoStrangers(t *testing.T) {
	t.Parallel()
	root := filepath.Join(gentest.Root(), "golden")
	var runs []string
	for _, c := range gentest.Cases(t) {
		for _, run := range c.RunNames() {
			runs = append(runs, c.Name+"/"+run)
		}
	}
	for _, name := range tree(t, root) {
		ours := slices.ContainsFunc(runs, func(run string) bool {
			return len(name) > len(run) && name[:len(run)+1] == run+"/"
		})
		if ours {
			continue
		}
		if os.Getenv("UPDATE_GOLDEN") == "1" {
			require.NoError(t, os.Remove(filepath.Join(root, filepath.FromSlash(name))))
		}
		t.Errorf("golden/%s belongs to no run", name)
	}
}

// tree lists the files below a directory in the order of their names, as the
// plugin orders its files; nothing when there is no such directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			// Goldens are run in place, and Python and its tools leave caches behind.
			if name := entry.Name(); name == "__pycache__" || strings.HasPrefix(name, ".") && path != dir {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	slices.Sort(names)
	return names
}

func refresh(t *testing.T, dir string, names []string, content map[string]string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(dir))
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content[name]), 0o644))
	}
	t.Errorf("refreshed %s: look at the difference, and run again without UPDATE_GOLDEN", dir)
}
