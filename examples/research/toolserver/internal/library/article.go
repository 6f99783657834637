package library

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// baseURL is the prefix of the articles' addresses. The domain is reserved for
// examples, so the addresses lead nowhere but to this library.
const baseURL = "https://library.example/articles/"

// Article is one document of a library.
type Article struct {
	// URL identifies the article.
	URL string
	// Title is its headline.
	Title string
	// Topics are the subjects that it belongs to, in the order of the file.
	Topics []string
	// Text is the whole text. Paragraphs are one line each, separated by an empty
	// line.
	Text string
}

// Load reads every Markdown file in the root of fsys, in the order of names.
// All files are checked before it returns: the error names each bad one.
func Load(fsys fs.FS) ([]Article, error) {
	names, err := fs.Glob(fsys, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list articles: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("no articles: want files named *.md")
	}
	articles := make([]Article, 0, len(names))
	var problems []error
	for _, name := range names {
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read article: %w", err)
		}
		article, err := parse(name, string(data))
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", name, err))
			continue
		}
		articles = append(articles, article)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return articles, nil
}

var (
	slugPattern = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	blankLines  = regexp.MustCompile(`\n[ \t]*\n\s*`)
)

// parse reads one file.
func parse(name, data string) (Article, error) {
	slug := strings.TrimSuffix(path.Base(name), ".md")
	if !slugPattern.MatchString(slug) {
		return Article{}, errors.New("want a name of lower-case words joined by dashes")
	}
	article := Article{URL: baseURL + slug}

	rest, ok := strings.CutPrefix(strings.ReplaceAll(data, "\r\n", "\n"), "---\n")
	if !ok {
		return Article{}, errors.New("want a front matter that begins with ---")
	}
	header, text, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return Article{}, errors.New("want a front matter that ends with ---")
	}
	for line := range strings.Lines(header) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "title":
			article.Title = value
		case "topics":
			for topic := range strings.SplitSeq(value, ",") {
				if topic = strings.TrimSpace(topic); topic != "" {
					article.Topics = append(article.Topics, topic)
				}
			}
		default:
			return Article{}, fmt.Errorf("unknown front matter key %q, want title or topics", key)
		}
	}
	if article.Title == "" {
		return Article{}, errors.New("want a title")
	}
	if len(article.Topics) == 0 {
		return Article{}, errors.New("want at least one topic")
	}

	// Files are wrapped for their readers; the text is not, so that a passage
	// of it reads as one line.
	var paragraphs []string
	for _, paragraph := range blankLines.Split(text, -1) {
		if words := strings.Fields(paragraph); len(words) > 0 {
			paragraphs = append(paragraphs, strings.Join(words, " "))
		}
	}
	if len(paragraphs) == 0 {
		return Article{}, errors.New("want a text")
	}
	article.Text = strings.Join(paragraphs, "\n\n")
	return article, nil
}
