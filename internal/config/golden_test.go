package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// canary is a key that no output may carry.
const canary = "c4n4ryS3cr3tN3v3rSh0wn"

func testEnv(name string) (string, bool) {
	v, ok := map[string]string{
		"DRPC_KEY": "d" + canary,
		"TOKEN":    "t" + canary,
		"EMPTY":    "",
	}[name]
	return v, ok
}

func TestEachWrongFileTellsAllItsErrorsAtOnce(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "full.yaml" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := Load(file, testEnv)
			var list *Errors
			if !errors.As(err, &list) {
				t.Fatalf("want *Errors, got %v", err)
			}
			got := strings.ReplaceAll(err.Error(), "testdata/", "") + "\n"
			if strings.Contains(strings.ToLower(got), "s3cr3t") {
				t.Errorf("a secret is shown:\n%s", got)
			}
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}
