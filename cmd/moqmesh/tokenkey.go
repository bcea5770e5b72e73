package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/moqmesh/moqmesh/token"
)

const generateAbout = `Makes a signing key and writes it as the base64url of a JWK, which is what the
relay and the other commands read. A file that is there is not overwritten.
` + patternAbout

// generate is the command line of "moqmesh token generate".
type generate struct {
	flags             *flagSet
	algorithm, id     string
	out, outDir       string
	public, publicDir string
	ceiling           *scopeFlags
}

// tokenGenerateMain is "moqmesh token generate".
func tokenGenerateMain(_ context.Context, args []string, std streams) int {
	f := newFlags("moqmesh token generate", "", generateAbout)
	g := &generate{flags: f}
	f.StringVar(&g.algorithm, "algorithm", "HS256", "`NAME`: HS, RS or PS with 256, 384 or 512, ES256, ES384, EdDSA")
	f.StringVar(&g.id, "id", "", "`ID` of the key; made up unless given")
	f.StringVar(&g.out, "out", "", "write the key to `FILE`; - = standard output, where it also goes without --out-dir")
	f.StringVar(&g.outDir, "out-dir", "", "write the key to ID.jwk in `DIR`")
	f.StringVar(&g.public, "public", "", "write the public key to `FILE`; - = standard output")
	f.StringVar(&g.publicDir, "public-dir", "", "write the public key to ID.jwk in `DIR`")
	g.ceiling = addScope(f, "its tokens")
	_, err := f.parse(args, 0)
	if err == nil {
		err = g.run(std.out)
	}
	return report(std, f.Name(), err)
}

func (g *generate) run(stdout io.Writer) error {
	if g.id != "" && !token.ValidKeyID(g.id) {
		return g.flags.wrong("--id is not 1 to 128 of A-Z a-z 0-9 _ and -")
	}
	scope, err := g.scope()
	if err != nil {
		return g.flags.wrong("%w", err)
	}
	key, err := token.GenerateKey(g.algorithm, g.id, scope)
	if err != nil {
		return g.flags.wrong("%w", err)
	}
	public := key
	if g.public != "" || g.publicDir != "" {
		if public, err = key.Public(); err != nil {
			return g.flags.wrong("--public: %w", err)
		}
	}
	if g.out == "" && g.outDir == "" {
		g.out = "-"
	}
	for _, f := range []keyFile{
		{g.out, key, 0o600}, {inDir(g.outDir, key), key, 0o600},
		{g.public, public, 0o644}, {inDir(g.publicDir, key), public, 0o644},
	} {
		if err := f.write(stdout); err != nil {
			return err
		}
	}
	return nil
}

// scope is the ceiling of the key; nil = none.
func (g *generate) scope() (*token.Scope, error) {
	scope, err := g.ceiling.scope()
	switch {
	case err != nil:
		return nil, err
	case scope.Empty() && scope.Root != "":
		return nil, fmt.Errorf("--root needs --publish or --subscribe")
	case scope.Empty():
		return nil, nil
	}
	return &scope, nil
}

func inDir(dir string, key *token.Key) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, key.ID()+".jwk")
}

// keyFile is a key on its way to a file.
type keyFile struct {
	name string // "" = nowhere, - = standard output
	key  *token.Key
	mode os.FileMode
}

func (f keyFile) write(stdout io.Writer) error {
	switch f.name {
	case "":
		return nil
	case "-":
		_, err := fmt.Fprintln(stdout, f.key.Encode())
		return err
	}
	w, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	_, err = io.WriteString(w, f.key.Encode())
	if cerr := w.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write key: %w", err)
	}
	return nil
}
