// Package archtest holds the tests that keep the house in order: who may import
// whom, what is pure, how long a file may be. It reads the source of the module
// and has no code of its own; house_test.go is the table.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "example.com/rpctop"

// source is one file of the product, tests left out.
type source struct {
	pkg   string // folder, as house has it
	name  string // path from the root of the module
	lines int
	file  *ast.File
}

// tree is the module's source.
type tree struct {
	fset  *token.FileSet
	files []source
}

// root is the module's folder: the nearest above with a go.mod.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// load parses every file of the module that is no test; modules inside it
// (tools) are not part of it.
func load(t *testing.T) tree {
	t.Helper()
	base := root(t)
	out := tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(base, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, other := os.Stat(filepath.Join(name, "go.mod"))
			hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
			if name != base && (hidden || d.Name() == "testdata" || other == nil) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		file, err := parser.ParseFile(out.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		out.files = append(out.files, source{
			pkg: path.Dir(rel), name: rel, file: file, lines: strings.Count(string(text), "\n"),
		})
		return nil
	})
	if err != nil {
		t.Fatalf("read the module: %v", err)
	}
	if len(out.files) == 0 {
		t.Fatalf("no source below %s", base)
	}
	return out
}

// imports gives the paths that a file imports.
func (s source) imports(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: import %s: %v", s.name, spec.Path.Value, err)
		}
		out = append(out, p)
	}
	return out
}

// names gives the names by which a file refers to an imported package; "." if
// it takes all of it into its own scope.
func (s source) names(t *testing.T, imported string) []string {
	t.Helper()
	var out []string
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != imported {
			continue
		}
		if spec.Name != nil {
			out = append(out, spec.Name.Name)
			continue
		}
		out = append(out, path.Base(imported))
	}
	return out
}

// uses finds the places where a file refers to one of the names of a package,
// calls and plain values alike.
func (s source) uses(t *testing.T, imported string, banned []string) []*ast.SelectorExpr {
	t.Helper()
	var out []*ast.SelectorExpr
	for _, local := range s.names(t, imported) {
		if local == "." {
			t.Errorf("%s: dot import of %s hides what is used of it", s.name, imported)
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == local {
				for _, b := range banned {
					if sel.Sel.Name == b {
						out = append(out, sel)
					}
				}
			}
			return true
		})
	}
	return out
}

// matches reports whether an import path is the one of a rule; "x/..." stands
// for x and all below it.
func matches(rule, imported string) bool {
	if tree, ok := strings.CutSuffix(rule, "/..."); ok {
		return imported == tree || strings.HasPrefix(imported, tree+"/")
	}
	return imported == rule
}

// standard reports whether an import path is one of the standard library: its
// first element has no dot.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}
