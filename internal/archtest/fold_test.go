package archtest

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// The same rows must give the same state on every machine, so the fold's
// package has rules of its own: nothing depends on the order of a map, and no
// compiler may fuse a product into a sum and keep the bits that rounding would
// drop.

// orderComment says, on the line of a range over a map or the one above it,
// that the order does not show in the result.
const orderComment = "// order does not matter:"

func TestTheFoldCallsNothingThatRoundsDifferently(t *testing.T) {
	tree := load(t)
	for _, f := range tree.files {
		if f.pkg != "internal/failover" {
			continue
		}
		for _, use := range f.uses(t, "math", roundedBans) {
			t.Errorf("%s: math.%s gives other bits on other machines", tree.fset.Position(use.Pos()), use.Sel.Name)
		}
	}
}

func TestTheFoldDependsOnNoMapsOrder(t *testing.T) {
	tree, info := typed(t, "internal/failover")
	for _, f := range tree.files {
		allowed := map[int]bool{}
		for _, group := range f.file.Comments {
			for _, c := range group.List {
				if strings.HasPrefix(c.Text, orderComment) {
					line := tree.fset.Position(c.Pos()).Line
					allowed[line], allowed[line+1] = true, true
				}
			}
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			pos, what := mapOrder(info, n)
			if what != "" && !allowed[tree.fset.Position(pos).Line] {
				t.Errorf("%s: %s; sort, or say why with %q", tree.fset.Position(pos), what, orderComment)
			}
			return true
		})
	}
}

// mapOrder tells whether a node yields the entries of a map in the map's order.
func mapOrder(info *types.Info, n ast.Node) (token.Pos, string) {
	switch n := n.(type) {
	case *ast.RangeStmt:
		if typ := info.TypeOf(n.X); typ != nil {
			if _, ok := typ.Underlying().(*types.Map); ok {
				return n.Pos(), "ranges over a map"
			}
		}
	case *ast.SelectorExpr:
		obj := info.Uses[n.Sel]
		if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != "maps" {
			return 0, ""
		}
		switch obj.Name() {
		case "Keys", "Values", "All":
			return n.Pos(), "takes a map's entries in its order"
		}
	}
	return 0, ""
}

func TestTheFoldRoundsItsProducts(t *testing.T) {
	tree, info := typed(t, "internal/failover")
	for _, f := range tree.files {
		ast.Inspect(f.file, func(n ast.Node) bool {
			pos, bad := unrounded(info, n)
			for _, p := range append(bad, pos...) {
				t.Errorf("%s: a product of floats is added up unrounded: write float64(a*b)", tree.fset.Position(p))
			}
			return true
		})
	}
}

// unrounded finds products of floats that a compiler may fuse with what uses
// them: all but those that are converted explicitly, are constant, or go into
// another product or quotient.
func unrounded(info *types.Info, n ast.Node) (assigned, used []token.Pos) {
	if a, ok := n.(*ast.AssignStmt); ok && a.Tok == token.MUL_ASSIGN && isFloat(info, a.Lhs[0]) {
		assigned = append(assigned, a.Pos())
	}
	for _, child := range children(n) {
		product, ok := ast.Unparen(child).(*ast.BinaryExpr)
		if !ok || product.Op != token.MUL || !isFloat(info, product) || rounds(info, n) {
			continue
		}
		used = append(used, product.Pos())
	}
	return assigned, used
}

// rounds reports whether a node that has a product as its part keeps it from
// being fused.
func rounds(info *types.Info, n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ParenExpr:
		return true // looked at with what is around it
	case *ast.CallExpr:
		return info.Types[n.Fun].IsType()
	case *ast.BinaryExpr:
		switch n.Op {
		case token.MUL, token.QUO, token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
			return true
		}
	}
	return false
}

// children gives the expressions that are direct parts of a node.
func children(n ast.Node) []ast.Expr {
	var out []ast.Expr
	if n == nil {
		return nil
	}
	depth := 0
	ast.Inspect(n, func(c ast.Node) bool {
		if c == nil {
			depth--
			return true
		}
		depth++
		if depth == 1 {
			return true
		}
		if e, ok := c.(ast.Expr); ok {
			out = append(out, e)
		}
		depth--
		return false
	})
	return out
}

func isFloat(info *types.Info, e ast.Expr) bool {
	tv := info.Types[e]
	if tv.Type == nil || tv.Value != nil {
		return false
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsFloat != 0
}

// typed parses one package and finds out its types.
func typed(t *testing.T, pkg string) (tree, *types.Info) {
	t.Helper()
	all := load(t)
	out := tree{fset: all.fset}
	var files []*ast.File
	for _, f := range all.files {
		if f.pkg == pkg {
			out.files = append(out.files, f)
			files = append(files, f.file)
		}
	}
	if len(files) == 0 {
		t.Fatalf("no source in %s", pkg)
	}
	info := check(t, all.fset, module+"/"+pkg, files)
	return out, info
}

func check(t *testing.T, fset *token.FileSet, path string, files []*ast.File) *types.Info {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := conf.Check(path, fset, files, info); err != nil {
		t.Fatalf("types of %s: %v", path, err)
	}
	return info
}

func functions(f *ast.File) []*ast.FuncDecl {
	var out []*ast.FuncDecl
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out = append(out, fn)
		}
	}
	return out
}
