package config

import (
	"errors"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The file is read from the syntax tree and not by the library's decoder: the
// decoder stops at the first error, and all are wanted at once.

// pos is a place in the source, from 1, in characters.
type pos struct{ line, col int }

type nodeKind uint8

const (
	scalar nodeKind = iota
	null
	mapping
	sequence
)

// node is a YAML value with its place.
type node struct {
	pos     pos
	kind    nodeKind
	text    string // of a scalar, unquoted
	quoted  bool   // of a scalar: quotes or a block, so surely a string
	entries []entry
	items   []*node
}

// entry is one key of a mapping.
type entry struct {
	key   string
	pos   pos
	value *node
}

// describe names the node's type as users do.
func (n *node) describe() string {
	switch n.kind {
	case null:
		return "nothing"
	case mapping:
		return "a mapping"
	case sequence:
		return "a list"
	}
	return "a single value"
}

// maxNesting is far beyond what a configuration needs; the YAML parser's time
// grows with the square of the depth.
const maxNesting = 64

// tree parses the source. It gives nil if the file is empty or is no YAML; the
// latter is recorded.
func (p *reader) tree(src string) *node {
	if at, deep := tooDeep(p.lines); deep {
		p.failf(at, "", "nested too deep")
		return nil
	}
	if len(src) > maxSource || len(p.lines) > maxLines {
		p.failf(pos{1, 1}, "", "the file is too large: at most %d lines and %d bytes", maxLines, maxSource)
		return nil
	}
	file, err := parseYAML(src)
	if err != nil {
		at, msg := pos{1, 1}, "this is not YAML"
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			msg = syntax.Message
			if t := syntax.Token; t != nil && t.Position != nil {
				at = pos{t.Position.Line, t.Position.Column}
			}
		}
		// The library's words quote no value longer than a character; where
		// they quote a name, it is dropped.
		if i := strings.IndexByte(msg, '"'); i > 0 {
			msg = strings.TrimSpace(msg[:i])
		}
		p.failf(at, p.syntaxHint(at), "%s", strings.ReplaceAll(msg, "'\t'", "TAB"))
		return nil
	}
	t := treeBuilder{reader: p, anchors: map[string]*node{}}
	var root *node
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		n := t.node(doc.Body)
		if root != nil {
			p.failf(n.pos, "keep one, and remove the line ---", "a second document in the file")
			break
		}
		root = n
	}
	if root != nil && root.kind == null {
		return nil
	}
	return root
}

// parseYAML turns a panic of the library into an error: a file that it cannot
// take must not end a running service on reload.
func parseYAML(src string) (f *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the YAML parser gave up")
		}
	}()
	return parser.ParseBytes([]byte(src), 0, parser.AllowDuplicateMapKey())
}

// syntaxHint guesses at the usual mistakes behind a syntax error.
func (p *reader) syntaxHint(at pos) string {
	line := p.lines[p.clamp(at).line-1]
	switch {
	case strings.Contains(line, "\t"):
		return "indent with blanks; YAML takes no tabs"
	case strings.Contains(line, "${") && strings.ContainsAny(line, "{["):
		return `put ${…} between quotes: "${NAME}"`
	}
	return "look at the quotes, brackets and indentation of this line and the next"
}

// tooDeep finds where brackets or the dashes of one line nest beyond
// maxNesting. It counts those inside quotes too, which only makes it stricter.
func tooDeep(lines []string) (pos, bool) {
	depth := 0
	for i, line := range lines {
		dashes := 0
		for col, r := range []rune(line) {
			switch r {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			case '-', '?', '&', '!', ':':
				dashes++
			case ' ':
			default:
				dashes = 0
			}
			if depth > maxNesting || dashes > 4*maxNesting {
				return pos{i + 1, col + 1}, true
			}
		}
	}
	return pos{}, false
}

// treeBuilder turns the library's nodes into ours.
type treeBuilder struct {
	*reader
	anchors map[string]*node
}

func (t *treeBuilder) node(n ast.Node) *node {
	if n == nil {
		return &node{kind: null, pos: pos{1, 1}}
	}
	at := place(n)
	switch v := n.(type) {
	case *ast.MappingNode:
		return t.mapping(at, v)
	case *ast.MappingValueNode:
		return t.mapping(at, &ast.MappingNode{Values: []*ast.MappingValueNode{v}})
	case *ast.SequenceNode:
		out := &node{kind: sequence, pos: at}
		for _, item := range v.Values {
			out.items = append(out.items, t.node(item))
		}
		return out
	case *ast.AnchorNode:
		// Named only after its value was read: an alias cannot lead to
		// something that holds it.
		value := t.node(v.Value)
		if v.Name != nil {
			t.anchors[v.Name.GetToken().Value] = value
		}
		return value
	case *ast.AliasNode:
		if v.Value != nil {
			if to, ok := t.anchors[v.Value.GetToken().Value]; ok {
				return to
			}
		}
		t.failf(at, "define it further up: &name", "an alias of something that is not defined before")
		return &node{kind: null, pos: at}
	case *ast.TagNode:
		t.failf(at, "remove the tag", "tags are not used here")
		return t.node(v.Value)
	case *ast.NullNode:
		return &node{kind: null, pos: at}
	case *ast.LiteralNode:
		return &node{pos: at, text: v.Value.Value, quoted: true}
	case *ast.StringNode:
		t := v.GetToken().Type
		return &node{pos: at, text: v.Value, quoted: t == token.DoubleQuoteType || t == token.SingleQuoteType}
	default:
		return &node{pos: at, text: n.GetToken().Value}
	}
}

func (t *treeBuilder) mapping(at pos, m *ast.MappingNode) *node {
	out := &node{kind: mapping, pos: at}
	seen := map[string]pos{}
	var merged []entry
	for i, kv := range m.Values {
		key, keyAt := kv.Key.(ast.Node), place(kv.Key)
		if k, ok := key.(*ast.MappingKeyNode); ok && k.Value != nil {
			key, keyAt = k.Value, place(k.Value)
		}
		if i == 0 && !m.IsFlowStyle {
			out.pos = keyAt // the library's place is the colon
		}
		value := t.node(kv.Value)
		if kv.Key.IsMergeKey() {
			merged = append(merged, t.merge(value)...)
			continue
		}
		switch key.(type) {
		case *ast.MappingNode, *ast.SequenceNode, *ast.MappingValueNode, *ast.AnchorNode, *ast.AliasNode, *ast.TagNode, *ast.LiteralNode:
			t.failf(keyAt, "", "a key must be a plain name")
			continue
		}
		name := key.GetToken().Value
		t.shown[keyAt] = true
		if first, twice := seen[name]; twice {
			t.failf(keyAt, "remove or rename one of the two", "`%s` stands here twice; first in line %d", tame(name), first.line)
			continue
		}
		seen[name] = keyAt
		out.entries = append(out.entries, entry{name, keyAt, value})
	}
	for _, e := range merged {
		if _, own := seen[e.key]; !own {
			seen[e.key] = e.pos
			out.entries = append(out.entries, e)
		}
	}
	return out
}

// merge gives what << brings: the entries of a mapping, or of a list of them,
// the first one winning.
func (t *treeBuilder) merge(n *node) []entry {
	switch n.kind {
	case mapping:
		return n.entries
	case sequence:
		var all []entry
		for _, item := range n.items {
			if item.kind == mapping {
				all = append(all, item.entries...)
			}
		}
		return all
	}
	t.failf(n.pos, "write <<: *name", "<< takes a mapping")
	return nil
}

// place is where a node begins.
func place(n ast.Node) pos {
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		return pos{tk.Position.Line, tk.Position.Column}
	}
	return pos{1, 1}
}
