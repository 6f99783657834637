package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	mdHeading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	mdFence   = regexp.MustCompile("(?ms)^```.*?^```$")
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// Every link of a page to another one, or to a section, leads somewhere.
func TestLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	require.NotEmpty(t, pages)
	for _, page := range pages {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, link := range mdLink.FindAllStringSubmatch(mdFence.ReplaceAllString(string(content), ""), -1) {
			target, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := page
			if target != "" {
				path = filepath.Join(filepath.Dir(page), target)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: link to %s: there is no such file", page, link[1])
				continue
			}
			if anchor != "" && !slugs(t, path)[anchor] {
				t.Errorf("%s: link to %s: there is no such section", page, link[1])
			}
		}
	}
}

// slugs are the names by which GitHub lets one link to the sections of a page.
func slugs(t *testing.T, page string) map[string]bool {
	t.Helper()
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	found := map[string]bool{}
	for _, heading := range mdHeading.FindAllStringSubmatch(mdFence.ReplaceAllString(string(content), ""), -1) {
		name := notInSlug.ReplaceAllString(strings.ToLower(heading[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}
