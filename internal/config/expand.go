package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// expand gives a scalar's text with each ${NAME} and ${file:PATH} replaced, and
// what stood for them. $${ is a literal ${. The text is never permitted to be
// quoted.
func (p *reader) expand(n *node, what string) (value string, secrets []Secret, ok bool) {
	rest, ok := p.scalar(n, what)
	if !ok {
		return "", nil, false
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			b.WriteString(rest)
			return b.String(), secrets, ok
		}
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(literal + "${")
			rest = after
			continue
		}
		b.WriteString(before)
		name, tail, closed := strings.Cut(after, "}")
		if !closed {
			p.failf(p.within(n, "${"), "close it: ${NAME}; a literal ${ is written $${", "%s has a ${ without its }", what)
			return "", nil, false
		}
		rest = tail
		v, problem, hint := p.lookup(name)
		if problem != "" {
			p.failf(p.within(n, "${"+name), hint, "%s: %s", what, problem)
			ok = false
			continue
		}
		b.WriteString(v)
		secrets = append(secrets, Secret(v))
	}
}

// lookup gives what one reference stands for, or what is wrong with it.
func (p *reader) lookup(name string) (value, problem, hint string) {
	if path, isFile := strings.CutPrefix(name, "file:"); isFile {
		return p.readSecret(path)
	}
	if !validVar(name) {
		return "", "what stands in ${…} is no name of a variable", "write ${NAME}, or ${file:PATH}"
	}
	v, set := "", false
	if p.env != nil {
		v, set = p.env(name)
	}
	switch {
	case !set:
		return "", "the variable " + tame(name) + " is not set", "export " + tame(name) + "=…, or write ${file:PATH}"
	case v == "":
		return "", "the variable " + tame(name) + " is empty", "export " + tame(name) + "=…"
	}
	return v, "", ""
}

// readSecret reads a small regular file, relative to the configuration's
// folder, without the line end that editors leave.
func (p *reader) readSecret(path string) (value, problem, hint string) {
	full := p.relative(path)
	b, err := readSmall(full, maxSecretFile)
	if err != nil {
		return "", "the file " + tame(path) + " cannot be read: " + reason(err), "a relative path starts at the folder of the configuration"
	}
	if v := strings.TrimRight(string(b), "\r\n"); v != "" {
		return v, "", ""
	}
	return "", "the file " + tame(path) + " is empty", ""
}

// relative resolves a path of the file against the file's folder.
func (p *reader) relative(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.file), path)
}

var (
	errNotRegular = errors.New("it is not a regular file")
	errTooLong    = errors.New("it is too long")
)

// readSmall reads a regular file of at most limit bytes: a FIFO would block,
// and a device would never end.
func readSmall(path string, limit int64) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = errTooLong
	}
	return b, err
}

// reason is an error of the file system without the path.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}
