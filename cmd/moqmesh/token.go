package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/moqmesh/moqmesh/token"
)

// tokenMain is "moqmesh token".
func tokenMain(ctx context.Context, args []string, std streams) int {
	list := []command{
		{"generate", "make a signing key", tokenGenerateMain},
		{"sign", "sign a token", tokenSignMain},
		{"verify", "verify a token and print its claims", tokenVerifyMain},
	}
	if len(args) == 0 {
		fmt.Fprint(std.err, usage("moqmesh token", list))
		return exitUsage
	}
	switch args[0] {
	case "-h", "-help", "--help", "help":
		fmt.Fprint(std.out, usage("moqmesh token", list))
		return exitOK
	}
	return dispatch(ctx, "moqmesh token", list, args, std)
}

// scopeFlags are the rights on a command line.
type scopeFlags struct {
	root               string
	publish, subscribe []string
}

const patternAbout = `
A PATTERN names paths below the root: "cam" is that one, "cam/*" those one
segment below, "cam/**" it and everything below.
`

func addScope(f *flagSet, whose string) *scopeFlags {
	s := &scopeFlags{}
	f.StringVar(&s.root, "root", "", "`PATH` that the patterns are relative to")
	f.Var(texts{&s.publish, ""}, "publish", "`PATTERN` of what "+whose+" may publish; repeat for several")
	f.Var(texts{&s.subscribe, ""}, "subscribe", "`PATTERN` of what "+whose+" may subscribe to; repeat for several")
	return s
}

func (s *scopeFlags) scope() (scope token.Scope, err error) {
	scope.Root = token.Clean(s.root)
	if scope.Publish, err = token.ParsePatterns(s.publish); err != nil {
		return scope, fmt.Errorf("--publish: %w", err)
	}
	if scope.Subscribe, err = token.ParsePatterns(s.subscribe); err != nil {
		return scope, fmt.Errorf("--subscribe: %w", err)
	}
	return scope, nil
}

const signAbout = `Prints a token that grants what the flags say.
` + patternAbout

// tokenSignMain is "moqmesh token sign".
func tokenSignMain(_ context.Context, args []string, std streams) int {
	f := newFlags("moqmesh token sign", "", signAbout)
	keyFile := f.String("key", "", "`FILE` of the signing key; - = standard input")
	grant := addScope(f, "the holder")
	var expires, issued date
	f.Var(&expires, "expires", "`TIME` of its end: seconds since 1970, or from now with a unit, such as 12h")
	f.Var(&issued, "issued", "`TIME` of its making, in the same forms")
	signed, err := func() (string, error) {
		if _, err := f.parse(args, 0); err != nil {
			return "", err
		}
		if *keyFile == "" {
			return "", f.wrong("--key is missing")
		}
		scope, err := grant.scope()
		if err != nil {
			return "", f.wrong("%w", err)
		}
		key, err := readKey(*keyFile, std.in)
		if err != nil {
			return "", err
		}
		return key.Sign(token.Claims{Scope: scope, Expires: time.Time(expires), IssuedAt: time.Time(issued)})
	}()
	if err == nil {
		fmt.Fprintln(std.out, signed)
	}
	return report(std, f.Name(), err)
}

const verifyAbout = `Verifies a token and prints its claims as a JSON object.
A token that does not hold ends it with status 3.
`

// tokenVerifyMain is "moqmesh token verify".
func tokenVerifyMain(_ context.Context, args []string, std streams) int {
	f := newFlags("moqmesh token verify", "", verifyAbout)
	keyFile := f.String("key", "", "`FILE` of the key, or of a set of keys; - = standard input, with --in a file")
	in := f.String("in", "-", "`FILE` of the token; - = standard input")
	err := func() error {
		if _, err := f.parse(args, 0); err != nil {
			return err
		}
		switch {
		case *keyFile == "":
			return f.wrong("--key is missing")
		case *keyFile == "-" && *in == "-":
			return f.wrong("key and token cannot both come from standard input")
		}
		claims, err := verify(*keyFile, *in, std.in)
		if err != nil {
			return err
		}
		return json.NewEncoder(std.out).Encode(claims)
	}()
	return report(std, f.Name(), err)
}

func verify(keyFile, tokenFile string, stdin io.Reader) (*claimsLine, error) {
	data, err := readFile(keyFile, stdin, token.MaxKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	keys, err := token.ParseKeySet(data)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	text, err := readFile(tokenFile, stdin, token.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	c, err := keys.Verify(time.Now(), strings.TrimSpace(string(text)))
	if err != nil {
		return nil, err
	}
	return &claimsLine{
		Root: c.Root, Publish: c.Publish.Strings(), Subscribe: c.Subscribe.Strings(),
		Expires: unix(c.Expires), IssuedAt: unix(c.IssuedAt), NotBefore: unix(c.NotBefore),
		ID: c.ID, Subject: c.Subject, Cluster: c.Cluster,
	}, nil
}

// claimsLine is what verify prints; dates are seconds since 1970.
type claimsLine struct {
	Root      string   `json:"root"`
	Publish   []string `json:"publish,omitempty"`
	Subscribe []string `json:"subscribe,omitempty"`
	Expires   int64    `json:"exp,omitempty"`
	IssuedAt  int64    `json:"iat,omitempty"`
	NotBefore int64    `json:"nbf,omitempty"`
	ID        string   `json:"jti,omitempty"`
	Subject   string   `json:"sub,omitempty"`
	Cluster   bool     `json:"cluster,omitempty"`
}

func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func readKey(name string, stdin io.Reader) (*token.Key, error) {
	data, err := readFile(name, stdin, token.MaxKeyBytes)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	key, err := token.ParseKey(data)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	return key, nil
}

// readFile reads a file, or standard input for "-", of at most limit bytes.
func readFile(name string, stdin io.Reader, limit int64) ([]byte, error) {
	r := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return data, err
}

// date is a point in time on a command line; zero = not given.
type date time.Time

func (d *date) Set(text string) error {
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil {
		*d = date(time.Unix(seconds, 0))
		return nil
	}
	ahead, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("neither seconds since 1970 nor a duration")
	}
	*d = date(time.Now().Add(ahead))
	return nil
}

func (d *date) String() string { return "" }
