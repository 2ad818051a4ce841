package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageHasARoomAndIsDescribed(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range load(t).files {
		if seen[f.pkg] {
			continue
		}
		seen[f.pkg] = true
		if _, ok := house[f.pkg]; !ok {
			t.Errorf("package %s has no room: add it to internal/archtest/house_test.go and describe it in docs/architecture.md", f.pkg)
		}
	}
	for pkg := range house {
		seen[pkg] = true
	}
	for pkg := range seen {
		if !strings.Contains(string(doc), "`"+pkg+"`") {
			t.Errorf("docs/architecture.md does not name `%s`", pkg)
		}
	}
}

func TestArrowsGoDownOnly(t *testing.T) {
	for _, f := range load(t).files {
		from := house[f.pkg]
		for _, imported := range f.imports(t) {
			pkg, ok := strings.CutPrefix(imported, module+"/")
			if !ok || slices.Contains(from.also, pkg) {
				continue
			}
			to, known := house[pkg]
			switch {
			case !known:
				t.Errorf("%s imports %s, which has no room in internal/archtest/house_test.go", f.name, pkg)
			case from.floor == beside || to.floor == beside:
				t.Errorf("%s imports %s: what stands beside the house is only imported where the table says so", f.name, pkg)
			case to.floor == from.floor:
				t.Errorf("%s imports %s: siblings never import each other", f.name, pkg)
			case to.floor > from.floor:
				t.Errorf("%s imports %s: arrows go down only (floor %d to %d)", f.name, pkg, from.floor, to.floor)
			}
		}
	}
}

func TestOutsidePackagesAreImportedByTheirOwnersOnly(t *testing.T) {
	for _, f := range load(t).files {
		for _, imported := range f.imports(t) {
			for _, o := range owners {
				if matches(o.path, imported) && !slices.Contains(o.only, f.pkg) {
					t.Errorf("%s imports %s, which only %s may: %s", f.name, imported, strings.Join(o.only, ", "), o.why)
				}
			}
			only, bound := importsOnly[f.pkg]
			if bound && !slices.Contains(only, imported) && !(slices.Contains(only, "std") && standard(imported)) {
				t.Errorf("%s imports %s; %s imports only: %s", f.name, imported, f.pkg, strings.Join(only, ", "))
			}
		}
	}
}

func TestPurePackagesDoNoIOAndAskNoClock(t *testing.T) {
	tree := load(t)
	for _, f := range tree.files {
		if !house[f.pkg].pure {
			continue
		}
		for _, imported := range f.imports(t) {
			for _, ban := range pureBans {
				if matches(ban, imported) {
					t.Errorf("%s imports %s: %s is pure", f.name, imported, f.pkg)
				}
			}
		}
		banned := clockNames
		if !house[f.pkg].waits {
			banned = slices.Concat(clockNames, timerNames)
		}
		for _, use := range f.uses(t, "time", banned) {
			t.Errorf("%s: time.%s in a pure package: take the time as an argument", tree.fset.Position(use.Pos()), use.Sel.Name)
		}
	}
}

func TestOnlyDarkbgHasAnInit(t *testing.T) {
	tree := load(t)
	for _, f := range tree.files {
		for _, fn := range functions(f.file) {
			if fn.Name.Name == "init" && fn.Recv == nil && f.pkg != "internal/darkbg" {
				t.Errorf("%s: func init: wire it in cmd/rpctop instead", tree.fset.Position(fn.Pos()))
			}
		}
	}
}

func TestNoFileIsTooLong(t *testing.T) {
	for _, f := range load(t).files {
		if f.lines > maxLines && !tables[f.name] {
			t.Errorf("%s has %d lines, over %d: split it by what is in it", f.name, f.lines, maxLines)
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	said := map[string]bool{}
	for _, f := range load(t).files {
		said[f.pkg] = said[f.pkg] || f.file.Doc != nil
	}
	for pkg, ok := range said {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}
