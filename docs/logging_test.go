package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// logCalls are the methods of a logger, with the number of arguments before its attributes.
var logCalls = map[string]int{"Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "With": 0}

// logKeys returns the keys of a call's attributes, if it is a logger's.
func logKeys(call *ast.CallExpr) []string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	first, ok := logCalls[method.Sel.Name]
	if !ok || !isLogger(method.X) {
		return nil
	}
	var keys []string
	for i := first; i < len(call.Args); i += 2 {
		if lit, ok := call.Args[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
			key, _ := strconv.Unquote(lit.Value)
			keys = append(keys, key)
		}
	}
	return keys
}

// isLogger reports whether an expression is called like one: log, s.log, cfg.Log.
func isLogger(x ast.Expr) bool {
	switch x := x.(type) {
	case *ast.Ident:
		return strings.EqualFold(x.Name, "log") || strings.EqualFold(x.Name, "logger")
	case *ast.SelectorExpr:
		return isLogger(x.Sel)
	}
	return false
}

func TestLoggingListsEveryKey(t *testing.T) {
	used := make(map[string]string)
	for _, dir := range packages(t) {
		files, err := filepath.Glob(filepath.Join("..", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, key := range logKeys(call) {
						used[key] = name
					}
				}
				return true
			})
		}
	}
	var listed []string
	for _, row := range rows(section(t, read(t, "logging.md"), "## Keys")) {
		key := strings.Trim(row[0], "`")
		listed = append(listed, key)
		if used[key] == "" {
			t.Errorf("logging.md lists %q, which nothing logs", key)
		}
	}
	if !slices.IsSorted(listed) {
		t.Error("the keys of logging.md are not in order")
	}
	for key, file := range used {
		if !slices.Contains(listed, key) {
			t.Errorf("%s logs %q, which logging.md does not list", file, key)
		}
	}
}
