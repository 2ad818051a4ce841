package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// The rules themselves are tested on small programs: a rule that finds nothing
// proves nothing.

func TestUnroundedProductsAreFound(t *testing.T) {
	const head = "package p\nfunc f(a, b, c float64, n int, p *float64) {\n"
	for _, c := range []struct {
		name, line string
		found      int
	}{
		{"a product that is added", "_ = a*b + c", 1},
		{"a product in parentheses that is added", "_ = (a*b) + c", 1},
		{"two products that are added", "_ = a*b - b*c", 2},
		{"a product that is assigned and added later", "x := a*b; _ = x + c", 1},
		{"a product that is handed over", "g(a*b)", 1},
		{"a product that is added in place", "c += a*b", 1},
		{"a multiplication in place", "*p *= a", 1},
		{"a rounded product", "_ = float64(a*b) + c", 0},
		{"a rounded product in parentheses", "_ = float64((a*b)) + c", 0},
		{"a product of three, rounded", "_ = float64(a*b*c) + c", 0},
		{"a product in a quotient", "_ = float64(a*b/c)", 0},
		{"a product that is compared", "_ = a*b > c", 0},
		{"integers", "_ = n*n + n", 0},
		{"constants", "const k = 2.0*3.0; _ = k", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			fset, file := parse(t, head+c.line+"\n}\nfunc g(float64) {}\n")
			info := check(t, fset, "p", []*ast.File{file})
			found := 0
			ast.Inspect(file, func(n ast.Node) bool {
				assigned, used := unrounded(info, n)
				found += len(assigned) + len(used)
				return true
			})
			if found != c.found {
				t.Errorf("found %d in %q, want %d", found, c.line, c.found)
			}
		})
	}
}

func TestMapOrderIsFound(t *testing.T) {
	for _, c := range []struct {
		name, body string
		found      bool
	}{
		{"a range over a map", "for range m {}", true},
		{"a range over a named map", "type M map[int]int; for range M(m) {}", true},
		{"the keys of a map", "for range maps.Keys(m) {}", true},
		{"a range over a slice", "for range s {}", false},
		{"a copy of a map", "_ = maps.Clone(m)", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			fset, file := parse(t, "package p\nimport \"maps\"\nvar _ = maps.Clone[map[int]int]\nfunc f(m map[int]int, s []int) {\n"+c.body+"\n}\n")
			info := check(t, fset, "p", []*ast.File{file})
			found := false
			ast.Inspect(file, func(n ast.Node) bool {
				_, what := mapOrder(info, n)
				found = found || what != ""
				return true
			})
			if found != c.found {
				t.Errorf("found %v in %q, want %v", found, c.body, c.found)
			}
		})
	}
}

func TestTheClockIsFoundUnderAnotherName(t *testing.T) {
	for _, c := range []struct {
		name, src string
		found     int
	}{
		{"a call", "import \"time\"\nvar x = time.Now()", 1},
		{"a value", "import \"time\"\nvar x = time.Since", 1},
		{"another name", "import clock \"time\"\nvar x = clock.Now()", 1},
		{"a type", "import \"time\"\nvar x time.Time", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, file := parse(t, "package p\n"+c.src+"\n")
			if got := len((source{file: file}).uses(t, "time", clockNames)); got != c.found {
				t.Errorf("found %d, want %d", got, c.found)
			}
		})
	}
}

func TestRulesForTreesOfPackages(t *testing.T) {
	for _, c := range []struct {
		rule, path string
		want       bool
	}{
		{"net/http/...", "net/http", true},
		{"net/http/...", "net/http/httptest", true},
		{"net/http/...", "net/httpx", false},
		{"net", "net/url", false},
		{"net", "net", true},
	} {
		if got := matches(c.rule, c.path); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.rule, c.path, got)
		}
	}
	for path, want := range map[string]bool{"fmt": true, "net/http": true, "example.com/x": false} {
		if got := standard(path); got != want {
			t.Errorf("standard(%q) = %v", path, got)
		}
	}
}

func TestTheTableIsSound(t *testing.T) {
	for pkg, r := range house {
		for _, also := range r.also {
			if _, ok := house[also]; !ok {
				t.Errorf("%s may import %s, which has no room", pkg, also)
			}
		}
		if strings.HasPrefix(pkg, "/") || r.floor < beside || r.floor > 4 {
			t.Errorf("%s: floor %d", pkg, r.floor)
		}
	}
	for _, o := range owners {
		for _, pkg := range o.only {
			if _, ok := house[pkg]; !ok {
				t.Errorf("%s may import %s, and has no room", pkg, o.path)
			}
		}
	}
}

func parse(t *testing.T, src string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return fset, file
}
